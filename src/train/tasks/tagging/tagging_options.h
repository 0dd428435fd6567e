// The options of training a model of tagging.
#ifndef ATTEND_TRAIN_TASKS_TAGGING_TAGGING_OPTIONS_H_
#define ATTEND_TRAIN_TASKS_TAGGING_TAGGING_OPTIONS_H_

#include <memory>
#include <string>
#include <vector>

#include "train/tasks/label_options.h"

namespace attend {

// LabelScheme, or the one of the training text.
enum class SchemeChoice { kIob1, kIob2, kIobes, kNone, kAuto };

struct TaggingOptions : LabelOptions {
  std::unique_ptr<TaskOptions> Clone() const override;
  FieldList FieldsFor(const TrainOptions& options) override;
  void Check(const TrainOptions& options) const override;
  std::vector<LabelledItem> Read(const std::vector<std::string>& files) const override;
  std::string kind() const override { return "columns"; }
  // Throws Error(kConfiguration) where a CRF, maybe of the model to fine-tune, leaves none.
  void CheckSmoothing(const TrainOptions& options) const;

  ColumnChoice columns;
  SchemeChoice scheme = SchemeChoice::kAuto;
  bool crf = false;
};

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_TAGGING_TAGGING_OPTIONS_H_
