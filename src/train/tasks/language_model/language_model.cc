#include "train/tasks/language_model/language_model.h"

#include "train/tasks/language_model/language_model_export.h"
#include "train/tasks/language_model/language_model_options.h"
#include "train/tasks/language_model/language_model_task.h"

namespace attend {
namespace {

TaskInfo DescribeLanguageModel() {
  TaskInfo info;
  info.name = "language_model";
  info.decoder = true;
  info.validation_options = "valid_text";
  info.validation = {{"loss", "loss"},
                     {"perplexity", "perplexity"},
                     {"word_perplexity", "perplexity by word"},
                     {"bits_per_character", "bits a character"}};
  info.charts = {{"Validation perplexity",
                  "by token and by word, less is better",
                  {"perplexity", "word_perplexity"}}};
  info.test = info.validation;
  info.samples = "Sample texts";
  info.sample_input = "prompt";
  return info;
}

}  // namespace

const TrainableTask& TrainableLanguageModel() {
  static const TrainableTask task{
      DescribeLanguageModel(),
      []() -> std::unique_ptr<TaskOptions> { return std::make_unique<LanguageModelOptions>(); },
      SetUpLanguageModel, CompleteLanguageModel};
  return task;
}

}  // namespace attend
