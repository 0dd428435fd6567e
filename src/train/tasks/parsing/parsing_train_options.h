// The options of training a parser: its treebank, its vocabulary, how it is judged.
#ifndef ATTEND_TRAIN_TASKS_PARSING_PARSING_TRAIN_OPTIONS_H_
#define ATTEND_TRAIN_TASKS_PARSING_PARSING_TRAIN_OPTIONS_H_

#include <memory>
#include <string>
#include <vector>

#include "attend/tagger.h"
#include "train/task_options.h"
#include "train/tasks/vocabulary_choice.h"
#include "train/train_options.h"

namespace attend {

// The symbols that stand for words.
enum class TagChoice {
  kAll,
  kPunctuation,  // tags of punctuation, and one for all others
};

struct ParsingTrainOptions : TaskOptions {
  std::unique_ptr<TaskOptions> Clone() const override;
  FieldList FieldsFor(const TrainOptions& options) override;
  void Check(const TrainOptions& options) const override;
  bool validates() const override { return !valid.empty(); }
  bool TellsTagsApart() const { return tags == TagChoice::kAll; }

  std::vector<std::string> train, valid, test;
  std::vector<double> weights;  // of `train`; empty: 1 each
  VocabularyChoice vocabulary;
  TagChoice tags = TagChoice::kAll;
  bool next_word = true;
  double word_dropout = 0;
  ParsingOptions search;  // of validation and test
};

// Precondition: the task of `options` is parsing.
ParsingTrainOptions& ParsingOf(TrainOptions& options);
const ParsingTrainOptions& ParsingOf(const TrainOptions& options);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_PARSING_PARSING_TRAIN_OPTIONS_H_
