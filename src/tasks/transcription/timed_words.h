// The words of a segment's transcript with their times, by a run of the model over what it wrote.
#ifndef ATTEND_TASKS_TRANSCRIPTION_TIMED_WORDS_H_
#define ATTEND_TASKS_TRANSCRIPTION_TIMED_WORDS_H_

#include <span>

#include "attend/translator.h"
#include "media/sound_frames.h"
#include "tasks/forced_decoding.h"
#include "tasks/loaded_model.h"
#include "tasks/transcription/recording_attention.h"

namespace attend {

// Where what the words look at goes, unless it is null, and within what bounds.
struct AttentionRequest {
  SegmentAttention* attention = nullptr;
  AttentionBounds bounds = kShownAttention;
};

// Gives a segment, whose samples these are, the words of its best hypothesis. Precondition:
// attend's own engine runs the model, whose input the frames have.
void AddWords(const LoadedModel& loaded, const SoundFrames& frames, std::span<const float> samples,
              const AttentionRequest& request, ForcedDecoding* decoding,
              TranscriptSegment* segment);

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSCRIPTION_TIMED_WORDS_H_
