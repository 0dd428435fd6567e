#include <fmt/format.h>
#include <samplerate.h>

#include <cmath>

#include "attend/error.h"
#include "media/sound.h"

namespace attend {

namespace {

double Ratio(const Sound& sound, int64_t rate) {
  return static_cast<double>(rate) / static_cast<double>(sound.rate);
}

double SamplesAfter(const Sound& sound, int64_t rate) {
  return std::ceil(static_cast<double>(sound.samples.size()) * Ratio(sound, rate));
}

}  // namespace

void CheckResample(const Sound& sound, int64_t rate, const SoundLimits& limits) {
  if (rate == sound.rate) return;
  if (src_is_valid_ratio(Ratio(sound, rate)) == 0 ||
      SamplesAfter(sound, rate) > static_cast<double>(limits.max_samples)) {
    throw Error(ErrorKind::kInput,
                fmt::format("a sound of {} samples, {} a second, can't be brought to {} a second: "
                            "expected rates up to 256 times apart and at most {} samples",
                            sound.samples.size(), sound.rate, rate, limits.max_samples));
  }
}

Sound Resample(const Sound& sound, int64_t rate, const SoundLimits& limits,
               ResampleQuality quality) {
  if (rate == sound.rate) return sound;
  CheckResample(sound, rate, limits);
  Sound resampled{rate, std::vector<float>(static_cast<size_t>(SamplesAfter(sound, rate)))};
  if (sound.samples.empty()) return resampled;
  SRC_DATA data = {};
  data.data_in = sound.samples.data();
  data.data_out = resampled.samples.data();
  data.input_frames = std::ssize(sound.samples);
  data.output_frames = std::ssize(resampled.samples);
  data.src_ratio = Ratio(sound, rate);
  const int converter =
      quality == ResampleQuality::kGood ? SRC_SINC_MEDIUM_QUALITY : SRC_SINC_FASTEST;
  const int status = src_simple(&data, converter, /*channels=*/1);
  if (status != 0)
    throw Error(ErrorKind::kRuntime,
                fmt::format("libsamplerate can't change a rate: {}", src_strerror(status)));
  return resampled;
}

}  // namespace attend
