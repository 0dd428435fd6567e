// Transcription as the registry of tasks has it.
#ifndef ATTEND_TRAIN_TASKS_TRANSCRIPTION_TRANSCRIPTION_H_
#define ATTEND_TRAIN_TASKS_TRANSCRIPTION_TRANSCRIPTION_H_

#include "train/tasks/registry.h"

namespace attend {

const TrainableTask& TrainableTranscription();

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_TRANSCRIPTION_TRANSCRIPTION_H_
