#include "tasks/transcription/heard_recordings.h"

#include <vector>

#include "attend/error.h"
#include "tasks/checks.h"

namespace attend {

HeardRecordings RecordingsOfFiles(std::span<const std::string> paths, int64_t rate,
                                  const std::atomic<bool>* stop) {
  const auto hear = [paths, rate](size_t i) {
    try {
      return Heard{paths[i], Resample(ReadSound(paths[i]), rate), ""};
    } catch (const Error& error) {
      return Heard{paths[i], {}, error.what()};
    }
  };
  const auto seconds = [paths](size_t i) { return SecondsOfFile(paths[i]); };
  return {paths.size(), seconds, hear, stop};
}

size_t EndOfGroup(size_t begin, size_t count, const std::function<double(size_t)>& seconds) {
  constexpr double kTogether = 600;
  double sum = seconds(begin);
  size_t end = begin + 1;
  while (end < count && (sum += seconds(end)) <= kTogether) ++end;
  return end;
}

void HearAll(const HeardRecordings& recordings, WorkPool* pool,
             const std::function<void(size_t begin, std::span<const Heard> heard)>& run) {
  for (size_t begin = 0; begin < recordings.count;) {
    const size_t end = EndOfGroup(begin, recordings.count, recordings.seconds);
    CheckNotStopped(recordings.stop);
    std::vector<Heard> heard(end - begin);
    pool->ParallelFor(std::ssize(heard),
                      [&](int64_t i, int /*worker*/) { heard[i] = recordings.hear(begin + i); });
    run(begin, heard);
    begin = end;
  }
}

}  // namespace attend
