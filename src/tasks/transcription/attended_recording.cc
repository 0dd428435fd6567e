#include "tasks/transcription/attended_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "attend/error.h"
#include "media/sound.h"
#include "media/sound_frames.h"
#include "tasks/transcription/timed_words.h"

namespace attend {

AttendedRecording AttendRecording(const Transcriber& transcriber, const LoadedModel& loaded,
                                  const std::string& path, const AttentionBounds& bounds) {
  const SoundFrames frames(*loaded.config().frames);
  const Sound sound = Resample(ReadSound(path), transcriber.rate());
  const RecordingSamples recording{sound.samples, sound.rate};
  AttendedRecording attended{.found = transcriber.Transcribe({&recording, 1})[0], .attention = {}};
  std::vector<TranscriptSegment>& segments = attended.found.segments;
  if (segments.empty()) throw Error(ErrorKind::kInput, fmt::format("'{}' is silent", path));
  attended.attention.resize(std::min(bounds.segments, std::ssize(segments)));
  ForcedDecoding decoding;
  for (size_t i = 0; i < attended.attention.size(); ++i) {
    const auto place = [&](double seconds) {
      return static_cast<size_t>(std::llround(seconds * static_cast<double>(sound.rate)));
    };
    const size_t begin = place(segments[i].begin), end = place(segments[i].end);
    AddWords(loaded, frames, std::span(sound.samples).subspan(begin, end - begin),
             {&attended.attention[i], bounds}, &decoding, &segments[i]);
  }
  return attended;
}

}  // namespace attend
