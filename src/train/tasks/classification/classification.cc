#include "train/tasks/classification/classification.h"

#include "train/tasks/classification/classification_options.h"
#include "train/tasks/classification/classification_task.h"
#include "train/tasks/label_export.h"

namespace attend {
namespace {

TaskInfo DescribeClassification() {
  TaskInfo info;
  info.name = "classification";
  info.encoder = true;
  info.validation_options = "valid_table";
  info.validation = {
      {"loss", "loss"}, {"accuracy", "accuracy", true}, {"macro_f1", "macro F1", true}};
  info.charts = {{"Validation accuracy", "percent", {"accuracy", "macro_f1"}, 100}};
  info.test = {{"accuracy", "accuracy"}, {"macro_f1", "macro F1"}};
  info.samples = "Sample texts";
  info.sample_input = "text";
  return info;
}

}  // namespace

const TrainableTask& TrainableClassification() {
  static const TrainableTask task{
      DescribeClassification(),
      []() -> std::unique_ptr<TaskOptions> { return std::make_unique<ClassificationOptions>(); },
      SetUpClassification, CompleteLabelModel};
  return task;
}

}  // namespace attend
