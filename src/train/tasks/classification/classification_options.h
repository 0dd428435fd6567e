// The options of training a model of classification.
#ifndef ATTEND_TRAIN_TASKS_CLASSIFICATION_CLASSIFICATION_OPTIONS_H_
#define ATTEND_TRAIN_TASKS_CLASSIFICATION_CLASSIFICATION_OPTIONS_H_

#include <memory>
#include <string>
#include <vector>

#include "train/tasks/classification/picture_options.h"
#include "train/tasks/label_options.h"

namespace attend {

struct ClassificationTrainOptions : LabelOptions {
  std::unique_ptr<TaskOptions> Clone() const override;
  FieldList FieldsFor(const TrainOptions& options) override;
  void Check(const TrainOptions& options) const override;
  bool validates() const override { return LabelOptions::validates() || pictures.validates(); }
  std::vector<LabelledItem> Read(const std::vector<std::string>& files) const override;
  std::string kind() const override { return "table"; }

  PictureOptions pictures;  // in place of text
  TextPooling pooling = TextPooling::kMean;
  bool head_pooler = false;
};

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_CLASSIFICATION_CLASSIFICATION_OPTIONS_H_
