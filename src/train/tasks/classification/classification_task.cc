#include "train/tasks/classification/classification_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attend/classifier.h"
#include "base/files.h"
#include "metrics/classes.h"
#include "text/utf8.h"
#include "train/tasks/classification/classification.h"
#include "train/tasks/classification/classification_options.h"
#include "train/tasks/classification/picture_task.h"

namespace attend {

const TaskInfo& ClassificationTask::info() const { return TrainableClassification().info; }

std::vector<int32_t> ClassificationTask::Choose(std::span<const float> scores_L) const {
  return {static_cast<int32_t>(std::ranges::max_element(scores_L) - scores_L.begin())};
}

std::map<std::string, double> ClassificationTask::Figures(const std::vector<LabelledItem>& items,
                                                          const Predictions& found) const {
  std::vector<std::string> classes, expected;
  for (const LabelledItem& item : items) expected.push_back(item.labels[0]);
  for (const std::vector<int32_t>& labels : found) classes.push_back(NamesOf(labels)[0]);
  const ClassScores scores = ScoreClasses(classes, expected);
  return {{"accuracy", scores.accuracy()}, {"macro_f1", scores.macro_f1()}};
}

ValidationResult::Sample ClassificationTask::SampleOf(const LabelledItem& item,
                                                      const std::vector<int32_t>& found) const {
  return {RepairUtf8(item.words[0]), item.labels[0], NamesOf(found)[0]};
}

// Keeps a line for each text: its label, the model's, and the text.
Json ClassificationTask::TestModel(const TestSetting& setting,
                                   const std::vector<LabelledItem>& items) {
  const Classifier classifier(setting.model, {.threads = threads_});
  std::vector<std::string> texts, found, expected;
  for (const LabelledItem& item : items) {
    texts.push_back(item.words[0]);
    expected.push_back(item.labels[0]);
  }
  std::string lines;
  for (const Classification& each : classifier.Classify(texts)) {
    const size_t i = found.size();
    found.push_back(each.classes[0].label);
    lines += fmt::format("{}\t{}\t{}\n", expected[i], found[i], texts[i]);
  }
  WriteFileAtomically(setting.output / "test_output.txt", lines);
  const ClassScores scores = ScoreClasses(found, expected);
  return {{"accuracy", scores.accuracy()},
          {"macro_f1", scores.macro_f1()},
          {"items", scores.items()},
          {"labels", scores.classes},
          {"confusion", scores.confusion}};
}

std::unique_ptr<TrainingTask> SetUpClassification(const TaskSetup& setup) {
  auto& own = dynamic_cast<ClassificationTrainOptions&>(*setup.options->task);
  ModelConfig& model = setup.options->model;
  Pooling pooling = PoolingOf(own.pooling);
  TakeHeadOption(setup, "pooling", &pooling, &model.pooling);
  own.pooling = pooling == Pooling::kFirst ? TextPooling::kFirst : TextPooling::kMean;
  TakeHeadOption(setup, "head_pooler", &own.head_pooler, &model.head_pooler);
  if (model.patches) return SetUpPictures(setup);
  LabelledTexts texts = ReadTexts(setup);
  return std::make_unique<ClassificationTask>(setup, SetUpLabelCorpora(setup, std::move(texts)));
}

}  // namespace attend
