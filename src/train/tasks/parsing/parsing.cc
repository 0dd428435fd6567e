#include "train/tasks/parsing/parsing.h"

#include "train/tasks/parsing/parsing_export.h"
#include "train/tasks/parsing/parsing_task.h"
#include "train/tasks/parsing/parsing_train_options.h"

namespace attend {
namespace {

TaskInfo DescribeParsing() {
  TaskInfo info;
  info.name = "parsing";
  info.encoder = info.decoder = true;
  info.init_without_decoder = true;
  info.validation_options = "valid_trees";
  info.validation = {{"loss", "loss"},
                     {"f1", "F1", /*high_is_better=*/true},
                     {"precision", "precision", true},
                     {"recall", "recall", true},
                     {"exact_match", "exact match", true},
                     {"tagging_accuracy", "tagging accuracy", true}};
  info.charts = {{"Validation F1", "of brackets, percent", {"f1", "precision", "recall"}, 100},
                 {"Exact match and tags", "percent", {"exact_match", "tagging_accuracy"}, 100}};
  info.test = {{"f1", "F1", true},
               {"precision", "precision", true},
               {"recall", "recall", true},
               {"exact_match", "exact match", true},
               {"tagging_accuracy", "tagging accuracy", true},
               {"errors", "sentences that do not count"}};
  info.samples = "Sample trees";
  info.sample_input = "sentence";
  return info;
}

}  // namespace

const TrainableTask& TrainableParsing() {
  static const TrainableTask task{
      DescribeParsing(),
      []() -> std::unique_ptr<TaskOptions> { return std::make_unique<ParsingTrainOptions>(); },
      SetUpParsing, CompleteParsingModel};
  return task;
}

}  // namespace attend
