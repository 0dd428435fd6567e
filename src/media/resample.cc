#include <fmt/format.h>
#include <samplerate.h>

#include <vector>

#include "attend/error.h"
#include "media/sound.h"

namespace attend {

int64_t SamplesAt(int64_t rate, const Sound& sound, const SoundLimits& limits) {
  const int64_t samples = std::ssize(sound.samples);
  if (rate == sound.rate) return samples;
  const double ratio = static_cast<double>(rate) / static_cast<double>(sound.rate);
  const bool valid = src_is_valid_ratio(ratio) != 0;
  const int64_t count = valid ? (samples * rate + sound.rate - 1) / sound.rate : 0;
  if (!valid || count > limits.max_samples) {
    throw Error(ErrorKind::kInput,
                fmt::format("a sound of {} samples, {} a second, can't be brought to {} a second: "
                            "expected rates up to 256 times apart and at most {} samples",
                            samples, sound.rate, rate, limits.max_samples));
  }
  return count;
}

Sound Resample(const Sound& sound, int64_t rate, const SoundLimits& limits,
               ResampleQuality quality) {
  if (rate == sound.rate) return sound;
  Sound resampled{rate, std::vector<float>(SamplesAt(rate, sound, limits))};
  if (sound.samples.empty()) return resampled;
  SRC_DATA data = {};
  data.data_in = sound.samples.data();
  data.data_out = resampled.samples.data();
  data.input_frames = std::ssize(sound.samples);
  data.output_frames = std::ssize(resampled.samples);
  data.src_ratio = static_cast<double>(rate) / static_cast<double>(sound.rate);
  const int converter =
      quality == ResampleQuality::kGood ? SRC_SINC_MEDIUM_QUALITY : SRC_SINC_FASTEST;
  const int status = src_simple(&data, converter, /*channels=*/1);
  if (status != 0)
    throw Error(ErrorKind::kRuntime,
                fmt::format("libsamplerate can't change a rate: {}", src_strerror(status)));
  return resampled;
}

}  // namespace attend
