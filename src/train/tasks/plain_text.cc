#include "train/tasks/plain_text.h"

#include <fmt/format.h>

#include "attend/error.h"
#include "data/streamed_documents.h"
#include "train/set_up.h"
#include "train/tasks/run_model.h"
#include "train/tasks/text_files.h"

namespace attend {
namespace {

// A file that can't be read is better known before a vocabulary is made, which may take long.
void CheckFilesOf(const PlainTextOptions& own) {
  for (const std::vector<std::string>* files : {&own.train_text, &own.valid_text, &own.test_text})
    CheckReadable(*files, FormatCheck::kSentences);
}

void CheckContext(const PlainTextOptions& own, const ModelConfig& model, int64_t tokens_at_ends) {
  const int64_t tokens = own.context.context_tokens;
  const int64_t longest = MaxTokens(model.last_stack());
  if (tokens + tokens_at_ends - 1 <= longest) return;
  throw Error(ErrorKind::kConfiguration,
              fmt::format("context_tokens is {}, but the model's learned positions reach {} "
                          "tokens; set context_tokens to at most that, or a larger max_positions",
                          tokens, longest + 1 - tokens_at_ends));
}

std::shared_ptr<const DocumentCorpus> ReadDocuments(
    const std::vector<std::string>& files, const TaskSetup& setup, const ContextOptions& context,
    const std::shared_ptr<const Vocabulary>& vocabulary) {
  if (files.empty()) return nullptr;
  auto corpus =
      std::make_shared<DocumentCorpus>(files, vocabulary, context, setup.settings->threads);
  corpus->Shuffle(static_cast<uint64_t>(setup.options->seed));
  return corpus;
}

}  // namespace

PlainText SetUpPlainText(const TaskSetup& setup, PlainTextOptions* own, int64_t tokens_at_ends) {
  TrainOptions& options = *setup.options;
  CheckFilesOf(*own);
  CheckShape(options.model);
  CheckContext(*own, options.model, tokens_at_ends);
  PlainText text;
  text.vocabulary = VocabularyOf(setup, &own->vocabulary, [&] {
    VocabularyOptions making = own->vocabulary.made;
    if (own->stream) making.LimitSentences();
    return TrainVocabulary(own->train_text, making, static_cast<uint64_t>(options.seed), setup.log);
  });
  options.model.source_vocab_size = options.model.target_vocab_size = text.vocabulary->size();
  options.model.special_ids = text.vocabulary->special_ids();
  CheckModelConfig(options.model);
  if (own->stream) {
    text.train = std::make_shared<StreamedDocuments>(
        own->train_text, text.vocabulary, own->context,
        DocumentStreamOptions{static_cast<uint64_t>(options.seed), own->shuffle_buffer},
        setup.settings->threads);
  } else {
    text.train = ReadDocuments(own->train_text, setup, own->context, text.vocabulary);
  }
  text.valid = ReadDocuments(own->valid_text, setup, own->context, text.vocabulary);
  if (setup.group->first())
    text.test = ReadDocuments(own->test_text, setup, own->context, text.vocabulary);
  return text;
}

}  // namespace attend
