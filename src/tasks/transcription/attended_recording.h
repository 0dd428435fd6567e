// A recording with its transcript and what its words look at.
#ifndef ATTEND_TASKS_TRANSCRIPTION_ATTENDED_RECORDING_H_
#define ATTEND_TASKS_TRANSCRIPTION_ATTENDED_RECORDING_H_

#include <string>
#include <vector>

#include "attend/translator.h"
#include "tasks/loaded_model.h"
#include "tasks/transcription/recording_attention.h"

namespace attend {

struct AttendedRecording {
  Transcription found;                      // its words have their times
  std::vector<SegmentAttention> attention;  // of the first segments
};

// Transcribes a file with the transcriber of the model. Throws Error(kInput) for one that can't be
// read, or in which nothing is heard.
AttendedRecording AttendRecording(const Transcriber& transcriber, const LoadedModel& loaded,
                                  const std::string& path, const AttentionBounds& bounds);

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSCRIPTION_ATTENDED_RECORDING_H_
