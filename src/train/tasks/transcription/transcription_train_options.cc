#include "train/tasks/transcription/transcription_train_options.h"

#include "attend/error.h"
#include "tasks/transcription/transcription_options.h"
#include "train/tasks/text_files.h"

namespace attend {

std::unique_ptr<TaskOptions> TranscriptionTrainOptions::Clone() const {
  return std::make_unique<TranscriptionTrainOptions>(*this);
}

FieldList TranscriptionTrainOptions::FieldsFor(const TrainOptions& options) {
  FieldList fields;
  fields.Group("Recordings")
      .Add("train_recordings", &train,
           "tables of `path<TAB>text` to train on: WAV, FLAC and others, of any rate; paths start "
           "from their table's folder",
           kPath | kRequired)
      .Add("valid_recordings", &valid, "tables of recordings to validate on", kPath)
      .Add("test_recordings", &test, "tables of recordings to score the finished model on", kPath)
      .Add("max_seconds", &max_seconds, 0, 1e5,
           "longer recordings are left out of training and validation; 0: none are", kIdentity)
      .Add("ctc_weight", &ctc_weight, 0, 100,
           "adds this times a CTC loss of the encoder, which learns sooner what is said where (Kim "
           "et al. 2017); 0.3 is usual",
           kIdentity)
      .Nest("augment", Fields(augmentation), kIdentity)
      .Group("Validation")
      .Nest("", Fields(search).Select({"beam_size", "length_penalty"}))
      .Nest("", vocabulary.FieldsFor(options));
  return fields;
}

void TranscriptionTrainOptions::Check(const TrainOptions& options) const {
  CheckOneText(options);
  if (train.empty()) throw Error(ErrorKind::kConfiguration, "train_recordings is needed");
  CheckNotStandardInput("train_recordings", train);
  CheckNotStandardInput("valid_recordings", valid);
  CheckNotStandardInput("test_recordings", test);
  vocabulary.Check(options);
}

TranscriptionTrainOptions& TranscriptionOf(TrainOptions& options) {
  return dynamic_cast<TranscriptionTrainOptions&>(*options.task);
}

const TranscriptionTrainOptions& TranscriptionOf(const TrainOptions& options) {
  return dynamic_cast<const TranscriptionTrainOptions&>(*options.task);
}

}  // namespace attend
