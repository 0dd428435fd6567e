// Sound in memory, from files and to them.
#ifndef ATTEND_MEDIA_SOUND_H_
#define ATTEND_MEDIA_SOUND_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

// One channel; samples are mostly between -1 and 1.
struct Sound {
  double seconds() const { return static_cast<double>(samples.size()) / static_cast<double>(rate); }

  int64_t rate = 16000;  // samples a second
  std::vector<float> samples;
};

// What a foreign recording may ask for. A decoder takes 4 bytes a sample of one channel.
struct SoundLimits {
  size_t max_bytes = size_t{1} << 31;  // of the file
  double max_seconds = 4 * 3600;
  int64_t max_samples = int64_t{1} << 28;  // of one channel, before and after another rate
};

// What is louder is no sound; the sums that frames are made of stay finite. NaN is none either.
inline constexpr float kLoudest = 1e6;
inline bool IsSample(float sample) { return sample >= -kLoudest && sample <= kLoudest; }

// Decodes WAV, FLAC, Opus in Ogg, AIFF and AU by libsndfile; several channels become their mean.
// `name` stands in messages. Throws Error(kInput) that names the sound for one of another format,
// one beyond a limit (from its header, before memory is taken), one that is damaged, cut short or
// empty, and one with numbers that are no sound. Safe to call from many threads.
Sound DecodeSound(std::string_view bytes, const std::string& name, const SoundLimits& limits = {});
Sound ReadSound(const std::filesystem::path& path, const SoundLimits& limits = {});
// That the file's header tells, so that long ones need not be in memory together; 0 for what can't
// be read, of which ReadSound says why.
double SecondsOfFile(const std::filesystem::path& path);

// A WAV file of 16 bits, one channel; what is beyond -1 and 1 is cut.
std::string EncodeWav(const Sound& sound);

enum class ResampleQuality { kGood, kFast };

// How many samples the sound has at another rate: ceil(samples * rate / its rate). Throws
// Error(kInput) for rates that are more than 256 times apart, and for a number beyond `limits`.
int64_t SamplesAt(int64_t rate, const Sound& sound, const SoundLimits& limits = {});

// The same sound at another rate, by libsamplerate's medium or fastest sinc filter. Throws as
// SamplesAt.
Sound Resample(const Sound& sound, int64_t rate, const SoundLimits& limits = {},
               ResampleQuality quality = ResampleQuality::kGood);

}  // namespace attend

#endif  // ATTEND_MEDIA_SOUND_H_
