// Long recordings as segments that a model reads one by one, and their texts as one.
#ifndef ATTEND_TASKS_TRANSCRIPTION_SEGMENTS_H_
#define ATTEND_TASKS_TRANSCRIPTION_SEGMENTS_H_

#include <span>
#include <vector>

#include "attend/model_config.h"
#include "attend/translator.h"
#include "media/silence.h"

namespace attend {

// The whole, where the model reads it at once and the options let it; else parts without the
// silence between them. None of a recording that is silent. `samples` are at the model's rate.
std::vector<SoundSegment> CutRecording(std::span<const float> samples, const ModelConfig& config,
                                       const TranscriptionOptions& options);

// Of sound that is in memory for a segment of so many seconds: with the silence that fills it up.
double SecondsInMemory(const FrameInput& frames, double seconds);

// Transcription::hypotheses. A single segment's are its own, to the bit.
std::vector<Hypothesis> JoinSegments(std::span<const TranscriptSegment> segments);

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSCRIPTION_SEGMENTS_H_
