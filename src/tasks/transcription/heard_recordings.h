// Recordings in memory, some at a time.
#ifndef ATTEND_TASKS_TRANSCRIPTION_HEARD_RECORDINGS_H_
#define ATTEND_TASKS_TRANSCRIPTION_HEARD_RECORDINGS_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "base/work_pool.h"
#include "media/sound.h"

namespace attend {

// A recording at the model's rate, or why there is none.
struct Heard {
  std::string name;
  Sound sound;
  std::string error;
};

struct HeardRecordings {
  size_t count = 0;
  std::function<double(size_t recording)> seconds;  // how long it is
  std::function<Heard(size_t recording)> hear;      // on any thread
  const std::atomic<bool>* stop = nullptr;
};

// At this rate. `paths` must outlive them.
HeardRecordings RecordingsOfFiles(std::span<const std::string> paths, int64_t rate,
                                  const std::atomic<bool>* stop);

// The end of a group of items from `begin` on: as many as are in memory together (ten minutes), at
// least one.
size_t EndOfGroup(size_t begin, size_t count, const std::function<double(size_t)>& seconds);

// Calls `run` with one group after another, whose first recording is number `begin`. Throws
// Error(kRuntime) between groups once `stop` is set, and what `hear` throws.
void HearAll(const HeardRecordings& recordings, WorkPool* pool,
             const std::function<void(size_t begin, std::span<const Heard> heard)>& run);

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSCRIPTION_HEARD_RECORDINGS_H_
