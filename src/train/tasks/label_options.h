// The options that tasks of labels share: text with labels, and its vocabulary. No Torch here.
#ifndef ATTEND_TRAIN_TASKS_LABEL_OPTIONS_H_
#define ATTEND_TRAIN_TASKS_LABEL_OPTIONS_H_

#include <string>
#include <vector>

#include "data/labelled_text.h"
#include "train/task_options.h"
#include "train/tasks/vocabulary_choice.h"
#include "train/train_options.h"

namespace attend {

struct LabelOptions : TaskOptions {
  void Check(const TrainOptions& options) const override;
  bool validates() const override { return !valid.empty(); }
  // The text of some of these files. Throws Error(kInput).
  virtual std::vector<LabelledItem> Read(const std::vector<std::string>& files) const = 0;
  // Of the files: "columns" for train_columns, valid_columns and test_columns.
  virtual std::string kind() const = 0;

  std::vector<std::string> train, valid, test;
  VocabularyChoice vocabulary;
  double word_dropout = 0;

 protected:
  // Throws Error(kConfiguration) for options of a head over a vocabulary.
  static void CheckHead(const TrainOptions& options);
  // Under those names; `what` tells what they hold.
  FieldList FilesFields(const std::string& what, Traits of_train = kRequired);
  FieldList WordDropoutField();
};

// Precondition: the task of `options` has labels.
LabelOptions& LabelOptionsOf(TrainOptions& options);
const LabelOptions& LabelOptionsOf(const TrainOptions& options);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_LABEL_OPTIONS_H_
