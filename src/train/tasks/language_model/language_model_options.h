// The options of training a language model: its text.
#ifndef ATTEND_TRAIN_TASKS_LANGUAGE_MODEL_LANGUAGE_MODEL_OPTIONS_H_
#define ATTEND_TRAIN_TASKS_LANGUAGE_MODEL_LANGUAGE_MODEL_OPTIONS_H_

#include <memory>

#include "train/task_options.h"
#include "train/tasks/plain_text.h"

namespace attend {

struct LanguageModelOptions : TaskOptions {
  LanguageModelOptions() { text.vocabulary.made.newline = true; }  // lines end in a text

  std::unique_ptr<TaskOptions> Clone() const override;
  FieldList FieldsFor(const TrainOptions& options) override { return text.FieldsFor(options); }
  void Check(const TrainOptions& options) const override { text.Check(options); }
  bool validates() const override { return !text.valid_text.empty(); }

  PlainTextOptions text;
};

// Precondition: the task of `options` is a language model.
LanguageModelOptions& LanguageModelOf(TrainOptions& options);
const LanguageModelOptions& LanguageModelOf(const TrainOptions& options);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_LANGUAGE_MODEL_LANGUAGE_MODEL_OPTIONS_H_
