#include <algorithm>
#include <cmath>

#include "fuzz/harness.h"
#include "media/log_mel.h"
#include "media/silence.h"
#include "media/sound.h"

namespace attend {
namespace {

void ReadForeignSound(std::string_view bytes) {
  static const LogMel log_mel({});
  const SoundLimits limits{.max_bytes = 1 << 20, .max_samples = 1 << 18};
  const Sound sound = DecodeSound(bytes, "f", limits);
  if (sound.rate <= 0 || sound.samples.empty() || std::ssize(sound.samples) > limits.max_samples)
    std::abort();
  int64_t end = 0;
  for (const SoundSegment& segment : CutAtSilence(sound.samples, sound.rate, {})) {
    if (segment.begin < end || segment.end <= segment.begin) std::abort();
    end = segment.end;
  }
  if (end > std::ssize(sound.samples)) std::abort();
  const size_t few = std::min<size_t>(sound.samples.size(), 1000);
  for (const float number : log_mel.Frames(std::span(sound.samples).first(few)))
    if (!std::isfinite(number)) std::abort();
  Sound beginning = sound;
  beginning.samples.resize(few);
  if (sound.rate < 16000 * 256 && sound.rate * 256 > 16000) Resample(beginning, 16000);
}

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return attend::ReadForeign(data, size, attend::ErrorKind::kInput, attend::ReadForeignSound);
}
