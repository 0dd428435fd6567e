#include "train/tasks/fusion/fusion.h"

#include "train/tasks/fusion/fusion_export.h"
#include "train/tasks/fusion/fusion_options.h"
#include "train/tasks/fusion/fusion_task.h"

namespace attend {
namespace {

TaskInfo DescribeFusion() {
  TaskInfo info;
  info.name = "fusion";
  info.encoder = true;
  info.preset = "fusion-tiny";
  info.reads_items = true;
  info.validation_options = "valid_items";
  info.validation = {
      {"loss", "loss"}, {"accuracy", "accuracy", true}, {"macro_f1", "macro F1", true}};
  info.charts = {{"Validation accuracy", "percent", {"accuracy", "macro_f1"}, 100}};
  info.test = {{"accuracy", "accuracy"},
               {"macro_f1", "macro F1"},
               {"text_to_picture_recall_1", "text to picture recall at 1"},
               {"text_to_picture_recall_10", "text to picture recall at 10"},
               {"picture_to_text_recall_1", "picture to text recall at 1"},
               {"picture_to_text_recall_10", "picture to text recall at 10"}};
  info.target = "example";
  info.samples = "Samples";
  info.sample_input = "item";
  return info;
}

}  // namespace

const TrainableTask& TrainableFusion() {
  static const TrainableTask task{
      DescribeFusion(),
      []() -> std::unique_ptr<TaskOptions> { return std::make_unique<FusionOptions>(); },
      SetUpFusion, CompleteFusionModel};
  return task;
}

}  // namespace attend
