#include "train/tasks/tagging/tagging.h"

#include "train/tasks/label_export.h"
#include "train/tasks/tagging/tagging_options.h"
#include "train/tasks/tagging/tagging_task.h"

namespace attend {
namespace {

TaskInfo DescribeTagging() {
  TaskInfo info;
  info.name = "tagging";
  info.encoder = true;
  info.validation_options = "valid_columns";
  info.validation = {{"loss", "loss"},
                     {"f1", "F1", true},
                     {"precision", "precision", true},
                     {"recall", "recall", true},
                     {"accuracy", "accuracy", true}};
  info.charts = {{"Validation F1", "of entities, percent", {"f1", "precision", "recall"}, 100},
                 {"Validation accuracy", "of labels, percent", {"accuracy"}, 100}};
  info.test = {
      {"f1", "F1"}, {"precision", "precision"}, {"recall", "recall"}, {"accuracy", "accuracy"}};
  info.target = "word";
  info.samples = "Sample sentences";
  info.sample_input = "sentence";
  return info;
}

}  // namespace

const TrainableTask& TrainableTagging() {
  static const TrainableTask task{
      DescribeTagging(),
      []() -> std::unique_ptr<TaskOptions> { return std::make_unique<TaggingOptions>(); },
      SetUpTagging, CompleteLabelModel};
  return task;
}

}  // namespace attend
