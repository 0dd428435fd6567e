// The options of training a model of transcription. No Torch here.
#ifndef ATTEND_TRAIN_TASKS_TRANSCRIPTION_TRANSCRIPTION_TRAIN_OPTIONS_H_
#define ATTEND_TRAIN_TASKS_TRANSCRIPTION_TRANSCRIPTION_TRAIN_OPTIONS_H_

#include <memory>
#include <string>
#include <vector>

#include "attend/translator.h"
#include "media/spec_augment.h"
#include "train/task_options.h"
#include "train/tasks/vocabulary_choice.h"
#include "train/train_options.h"

namespace attend {

struct TranscriptionTrainOptions : TaskOptions {
  std::unique_ptr<TaskOptions> Clone() const override;
  FieldList FieldsFor(const TrainOptions& options) override;
  void Check(const TrainOptions& options) const override;
  bool validates() const override { return !valid.empty(); }

  std::vector<std::string> train, valid, test;  // tables
  double max_seconds = 30;
  double ctc_weight = 0;
  SpecAugmentOptions augmentation;
  VocabularyChoice vocabulary;
  TranscriptionOptions search;  // of validation and test
};

// Precondition: the task of `options` is transcription.
TranscriptionTrainOptions& TranscriptionOf(TrainOptions& options);
const TranscriptionTrainOptions& TranscriptionOf(const TrainOptions& options);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_TRANSCRIPTION_TRANSCRIPTION_TRAIN_OPTIONS_H_
