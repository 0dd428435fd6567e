// Vectors of recordings: the mean of what the encoder makes of them.
#ifndef ATTEND_TASKS_TRANSCRIPTION_RECORDING_VECTORS_H_
#define ATTEND_TASKS_TRANSCRIPTION_RECORDING_VECTORS_H_

#include <span>

#include "attend/translator.h"
#include "base/work_pool.h"
#include "media/sound_frames.h"
#include "tasks/loaded_model.h"
#include "tasks/transcription/heard_recordings.h"

namespace attend {

// Transcriber::EmbedFiles of recordings that are in memory. A thread runs one segment at a time, so
// that nothing which shares the call changes a vector.
void EmbedHeard(const LoadedModel& loaded, const SoundFrames& frames, std::span<const Heard> heard,
                const RecordingEmbeddingOptions& options, WorkPool* pool,
                std::span<RecordingVector> vectors);

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSCRIPTION_RECORDING_VECTORS_H_
