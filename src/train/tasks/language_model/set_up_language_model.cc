#include "train/tasks/language_model/set_up_language_model.h"

#include <fmt/format.h>

#include <filesystem>

#include "attend/error.h"
#include "model/config_file.h"
#include "text/lines.h"
#include "train/tasks/language_model/language_model_options.h"
#include "train/tasks/language_model/language_model_task.h"
#include "train/tasks/run_model.h"

namespace attend {
namespace {

std::shared_ptr<const Vocabulary> OwnVocabulary(const TaskSetup& setup) {
  const TrainOptions& options = *setup.options;
  const LanguageModelOptions& own = LanguageModelOf(options);
  if (setup.init != nullptr) {
    if (setup.init->target_vocabulary.empty()) {
      throw Error(ErrorKind::kInput,
                  fmt::format("the model in '{}' has no vocabulary, which training on text needs",
                              options.init));
    }
    return Vocabulary::FromBytes(setup.init->target_vocabulary, options.init);
  }
  if (setup.goes_on) {
    return Vocabulary::Load(std::filesystem::path(options.output) / kJointVocabularyFile);
  }
  if (!own.vocab.empty()) return Vocabulary::Load(own.vocab);
  setup.log(LogLevel::kInfo, fmt::format("making a vocabulary of {} tokens", own.vocabulary.size));
  const std::string bytes = TrainVocabulary(own.train_text, own.vocabulary,
                                            static_cast<uint64_t>(options.seed), setup.log);
  return Vocabulary::FromBytes(bytes, "vocabulary made from the training text");
}

// Rank 0 makes it, or knows where it is.
std::shared_ptr<const Vocabulary> SharedVocabulary(const TaskSetup& setup) {
  std::shared_ptr<const Vocabulary> own;
  if (setup.group->first()) own = OwnVocabulary(setup);
  const std::string bytes = setup.group->FromFirst(own != nullptr ? own->bytes() : "");
  return own != nullptr ? own : Vocabulary::FromBytes(bytes, "rank 0's vocabulary");
}

// A file that can't be read is better known before a vocabulary is made, which may take long.
void CheckFilesOf(const LanguageModelOptions& own) {
  for (const std::vector<std::string>* files : {&own.train_text, &own.valid_text, &own.test_text}) {
    std::string line;
    for (const std::string& file : *files) LineReader(file).Next(&line);
  }
}

// bos and all tokens of a context but the last are read.
void CheckContext(const LanguageModelOptions& own, const ModelConfig& model) {
  const int64_t longest = MaxTokens(*model.decoder);
  if (own.context.context_tokens - 1 <= longest) return;
  throw Error(ErrorKind::kConfiguration,
              fmt::format("context_tokens is {}, but the model's learned positions reach {} "
                          "tokens; set context_tokens to at most that, or a larger max_positions",
                          own.context.context_tokens, longest + 1));
}

}  // namespace

std::unique_ptr<TrainingTask> SetUpLanguageModel(const TaskSetup& setup) {
  TrainOptions& options = *setup.options;
  const LanguageModelOptions& own = LanguageModelOf(options);
  CheckFilesOf(own);
  CheckShape(options.model);
  CheckContext(own, options.model);
  const auto vocabulary = SharedVocabulary(setup);
  if (!own.MakesVocabulary(options) && own.vocabulary.size != 0 &&
      own.vocabulary.size != vocabulary->size()) {
    throw Error(ErrorKind::kConfiguration,
                fmt::format("vocab_size is {}, but the vocabulary given has {} tokens; leave "
                            "vocab_size out, or set it to 0",
                            own.vocabulary.size, vocabulary->size()));
  }
  options.model.source_vocab_size = options.model.target_vocab_size = vocabulary->size();
  options.model.special_ids = vocabulary->special_ids();
  CheckModelConfig(options.model);
  return std::make_unique<LanguageModelTask>(setup, vocabulary);
}

}  // namespace attend
