// The text of tasks that learn from plain text alone: documents for training, validation and test,
// and their vocabulary.
#ifndef ATTEND_TRAIN_TASKS_PLAIN_TEXT_H_
#define ATTEND_TRAIN_TASKS_PLAIN_TEXT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attend/vocabulary.h"
#include "base/fields.h"
#include "data/document_corpus.h"
#include "train/tasks/text_files.h"
#include "train/tasks/vocabulary_choice.h"

namespace attend {

// The options of it. No Torch here.
struct PlainTextOptions {
  FieldList FieldsFor(const TrainOptions& options);
  // Throws Error(kConfiguration) for options that contradict each other or are missing.
  void Check(const TrainOptions& options) const;

  std::vector<std::string> train_text, valid_text, test_text;
  ContextOptions context;
  bool stream = false;
  int64_t shuffle_buffer = 100000;
  VocabularyChoice vocabulary;
};

struct PlainText {
  TaskTexts texts() const { return {vocabulary, train, valid, test}; }

  std::shared_ptr<const Vocabulary> vocabulary;
  std::shared_ptr<const PlainTextCorpus> train;
  std::shared_ptr<const DocumentCorpus> valid, test;  // null: none; test on rank 0 alone

  // What a model is judged by: of the validation text, if there is one.
  const PlainTextCorpus& ValidationOrTraining() const { return valid != nullptr ? *valid : *train; }
};

// Reads all of it, and completes the model in the setup's options with the vocabulary's size and
// ids. The model reads so many tokens with each context. Throws Error for files that can't be
// read, and for a context longer than the model's positions.
PlainText SetUpPlainText(const TaskSetup& setup, PlainTextOptions* own, int64_t tokens_at_ends);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_PLAIN_TEXT_H_
