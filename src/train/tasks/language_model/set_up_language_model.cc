#include "train/tasks/language_model/set_up_language_model.h"

#include <fmt/format.h>

#include "attend/error.h"
#include "train/tasks/language_model/language_model_options.h"
#include "train/tasks/language_model/language_model_task.h"
#include "train/tasks/run_model.h"
#include "train/tasks/text_files.h"

namespace attend {
namespace {

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
  for (const auto* files : {&own.train_text, &own.valid_text, &own.test_text})
    CheckReadable(*files, FormatCheck::kSentences);
  CheckShape(options.model);
  CheckContext(own, options.model);
  const auto vocabulary = VocabularyOf(setup, own.vocabulary, [&] {
    return TrainVocabulary(own.train_text, own.vocabulary.made, static_cast<uint64_t>(options.seed),
                           setup.log);
  });
  options.model.source_vocab_size = options.model.target_vocab_size = vocabulary->size();
  options.model.special_ids = vocabulary->special_ids();
  CheckModelConfig(options.model);
  return std::make_unique<LanguageModelTask>(setup, vocabulary);
}

}  // namespace attend
