// The options of training a masked language model: its text and what of it is hidden.
#ifndef ATTEND_TRAIN_TASKS_MASKED_LANGUAGE_MODEL_MASKED_LANGUAGE_MODEL_OPTIONS_H_
#define ATTEND_TRAIN_TASKS_MASKED_LANGUAGE_MODEL_MASKED_LANGUAGE_MODEL_OPTIONS_H_

#include <memory>

#include "data/masking.h"
#include "train/task_options.h"
#include "train/tasks/plain_text.h"

namespace attend {

struct MaskedLanguageModelOptions : TaskOptions {
  MaskedLanguageModelOptions() { text.vocabulary.made.mask = true; }

  std::unique_ptr<TaskOptions> Clone() const override;
  FieldList FieldsFor(const TrainOptions& options) override;
  void Check(const TrainOptions& options) const override { text.Check(options); }
  bool validates() const override { return !text.valid_text.empty(); }

  PlainTextOptions text;
  MaskingOptions masking;
};

// Precondition: the task of `options` is a masked language model.
MaskedLanguageModelOptions& MaskedLanguageModelOf(TrainOptions& options);
const MaskedLanguageModelOptions& MaskedLanguageModelOf(const TrainOptions& options);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_MASKED_LANGUAGE_MODEL_MASKED_LANGUAGE_MODEL_OPTIONS_H_
