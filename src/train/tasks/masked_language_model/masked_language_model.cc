#include "train/tasks/masked_language_model/masked_language_model.h"

#include "train/tasks/masked_language_model/masked_language_model_export.h"
#include "train/tasks/masked_language_model/masked_language_model_options.h"
#include "train/tasks/masked_language_model/masked_language_model_task.h"

namespace attend {
namespace {

TaskInfo DescribeMaskedLanguageModel() {
  TaskInfo info;
  info.name = "masked_language_model";
  info.encoder = true;
  info.validation_options = "valid_text";
  info.validation = {{"loss", "loss"},
                     {"perplexity", "perplexity of the hidden tokens"},
                     {"accuracy", "% of the hidden tokens found", /*high_is_better=*/true}};
  info.charts = {{"Hidden tokens found", "% of them, more is better", {"accuracy"}, 100}};
  info.test = info.validation;
  info.samples = "Sample texts";
  info.sample_input = "with hidden tokens";
  return info;
}

}  // namespace

const TrainableTask& TrainableMaskedLanguageModel() {
  static const TrainableTask task{DescribeMaskedLanguageModel(),
                                  []() -> std::unique_ptr<TaskOptions> {
                                    return std::make_unique<MaskedLanguageModelOptions>();
                                  },
                                  SetUpMaskedLanguageModel, CompleteMaskedLanguageModel};
  return task;
}

}  // namespace attend
