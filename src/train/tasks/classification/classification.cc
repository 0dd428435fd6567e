#include "train/tasks/classification/classification.h"

#include "train/tasks/classification/classification_options.h"
#include "train/tasks/classification/classification_task.h"
#include "train/tasks/classification/picture_task.h"
#include "train/tasks/label_export.h"

namespace attend {
namespace {

TaskInfo DescribeClassification() {
  TaskInfo info;
  info.name = "classification";
  info.encoder = true;
  info.picture_preset = "vit-tiny";
  info.validation_options = "valid_table, valid_pictures or valid_count";
  info.validation = {
      {"loss", "loss"}, {"accuracy", "accuracy", true}, {"macro_f1", "macro F1", true}};
  info.charts = {{"Validation accuracy", "percent", {"accuracy", "macro_f1"}, 100}};
  info.test = {{"accuracy", "accuracy"}, {"macro_f1", "macro F1"}};
  info.target = "example";
  info.samples = "Samples";
  info.sample_input = "item";
  return info;
}

}  // namespace

const TrainableTask& TrainableClassification() {
  const auto complete = [](const ExportedRun& run, Model* model) {
    model->config.patches ? CompletePictureModel(run, model) : CompleteLabelModel(run, model);
  };
  static const TrainableTask task{DescribeClassification(),
                                  []() -> std::unique_ptr<TaskOptions> {
                                    return std::make_unique<ClassificationTrainOptions>();
                                  },
                                  SetUpClassification, complete};
  return task;
}

}  // namespace attend
