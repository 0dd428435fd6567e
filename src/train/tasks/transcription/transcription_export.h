// What an exported model of transcription holds beside weights.
#ifndef ATTEND_TRAIN_TASKS_TRANSCRIPTION_TRANSCRIPTION_EXPORT_H_
#define ATTEND_TRAIN_TASKS_TRANSCRIPTION_TRANSCRIPTION_EXPORT_H_

#include "data/recording_corpus.h"
#include "model/model_directory.h"
#include "train/export.h"

namespace attend {

// Recordings that the exported model is to prove itself on, as samples without what it says of
// them: the begin of each, of 16 bits.
Json SampleSounds(const RecordingCorpus& recordings);

// As TrainableTask::complete_model promises.
void CompleteTranscriptionModel(const ExportedRun& run, Model* model);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_TRANSCRIPTION_TRANSCRIPTION_EXPORT_H_
