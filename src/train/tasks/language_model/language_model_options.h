// The options of training a language model: its text, its vocabulary, how the text is cut.
#ifndef ATTEND_TRAIN_TASKS_LANGUAGE_MODEL_LANGUAGE_MODEL_OPTIONS_H_
#define ATTEND_TRAIN_TASKS_LANGUAGE_MODEL_LANGUAGE_MODEL_OPTIONS_H_

#include <memory>
#include <string>
#include <vector>

#include "base/fields.h"
#include "data/document_corpus.h"
#include "train/task_options.h"
#include "train/tasks/vocabulary_choice.h"
#include "train/train_options.h"

namespace attend {

struct LanguageModelOptions : TaskOptions {
  LanguageModelOptions() { vocabulary.made.newline = true; }  // lines end in a text

  std::unique_ptr<TaskOptions> Clone() const override;
  FieldList FieldsFor(const TrainOptions& options) override;
  void Check(const TrainOptions& options) const override;
  bool validates() const override { return !valid_text.empty(); }

  std::vector<std::string> train_text, valid_text, test_text;
  ContextOptions context;
  VocabularyChoice vocabulary;
};

// Precondition: the task of `options` is a language model.
LanguageModelOptions& LanguageModelOf(TrainOptions& options);
const LanguageModelOptions& LanguageModelOf(const TrainOptions& options);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_LANGUAGE_MODEL_LANGUAGE_MODEL_OPTIONS_H_
