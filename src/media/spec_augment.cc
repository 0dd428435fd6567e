#include "media/spec_augment.h"

#include <algorithm>
#include <cmath>

namespace attend {
namespace {

struct MaskedRange {
  int64_t begin = 0, end = 0;
};

MaskedRange DrawMask(int64_t whole, int64_t widest, Random* random) {
  widest = std::min(widest, whole);
  const auto width = static_cast<int64_t>(random->Below(static_cast<uint64_t>(widest) + 1));
  const auto begin = static_cast<int64_t>(random->Below(static_cast<uint64_t>(whole - width) + 1));
  return {begin, begin + width};
}

}  // namespace

FieldList Fields(SpecAugmentOptions& options) {
  FieldList fields;
  fields
      .Add("frequency_masks", &options.frequency_masks, 0, 100,
           "masks over bands of frequencies of each recording (SpecAugment)")
      .Add("frequency_width", &options.frequency_width, 0, 1024,
           "bands that one of them covers at most")
      .Add("time_masks", &options.time_masks, 0, 100,
           "masks over frames of each recording (SpecAugment)")
      .Add("time_width", &options.time_width, 0, 100000, "frames that one of them covers at most")
      .Add("time_share", &options.time_share, 0, 1,
           "share of the frames that one of them covers at most")
      .Add("speed", &options.speed, 0, 0.9,
           "each recording is up to this share faster or slower, and higher or lower (speed "
           "perturbation)")
      .Add("warp", &options.warp, 0, 0.5,
           "the formants of each recording are up to this share higher or lower, as if a shorter "
           "or longer vocal tract spoke (VTLP); 0.1 to 0.2 is usual")
      .Add("silence", &options.silence, 0, 60,
           "each recording gets up to so many seconds of silence before it, and after it; "
           "augment.noise fills them with noise")
      .Add("noise", &options.noise, 0, 10,
           "noise is added to each recording, of up to this share of its root mean square (0.1: "
           "20 dB below it), down to a thousandth of that");
  return fields;
}

Sound ChangeSpeed(const SpecAugmentOptions& options, Sound sound, Random* random) {
  if (options.speed <= 0) return sound;
  const double factor = 1 + options.speed * (2 * random->Uniform() - 1);
  const int64_t rate = sound.rate;
  // What has more samples a second than it says is played too slowly.
  sound.rate = std::max<int64_t>(1, std::llround(static_cast<double>(rate) * factor));
  return Resample(sound, rate, {}, ResampleQuality::kFast);
}

double DrawWarp(const SpecAugmentOptions& options, Random* random) {
  return options.warp > 0 ? 1 + options.warp * (2 * random->Uniform() - 1) : 1;
}

Sound AddSilence(const SpecAugmentOptions& options, Sound sound, Random* random) {
  if (options.silence <= 0) return sound;
  const double most = options.silence * static_cast<double>(sound.rate);
  const auto before = static_cast<int64_t>(most * random->Uniform());
  const auto after = static_cast<int64_t>(most * random->Uniform());
  sound.samples.insert(sound.samples.begin(), before, 0);
  sound.samples.resize(sound.samples.size() + after);
  return sound;
}

void AddNoise(const SpecAugmentOptions& options, Random* random, std::span<float> samples) {
  if (options.noise <= 0 || samples.empty()) return;
  double squares = 0;
  for (const float sample : samples) squares += static_cast<double>(sample) * sample;
  const double level = std::sqrt(squares / static_cast<double>(samples.size()));
  const double deviation = level * options.noise * std::pow(10, -3 * random->Uniform());
  const double pole = 0.9 * random->Uniform();
  // So that the filter's output has the deviation, from its first number on.
  const double step = deviation * std::sqrt(1 - pole * pole);
  double noise = deviation * random->Normal();
  for (float& sample : samples) {
    sample += static_cast<float>(noise);
    noise = pole * noise + step * random->Normal();
  }
}

void MaskFrames(const SpecAugmentOptions& options, int64_t mels, Random* random,
                std::span<float> frames_TF) {
  const int64_t frames = std::ssize(frames_TF) / mels;
  if (frames == 0) return;
  double sum = 0;
  for (const float number : frames_TF) sum += number;
  const auto mean = static_cast<float>(sum / static_cast<double>(frames_TF.size()));
  for (int64_t i = 0; i < options.frequency_masks; ++i) {
    const MaskedRange bands = DrawMask(mels, options.frequency_width, random);
    for (int64_t t = 0; t < frames; ++t)
      std::fill_n(frames_TF.data() + t * mels + bands.begin, bands.end - bands.begin, mean);
  }
  const auto share = static_cast<int64_t>(options.time_share * static_cast<double>(frames));
  for (int64_t i = 0; i < options.time_masks; ++i) {
    const MaskedRange times = DrawMask(frames, std::min(options.time_width, share), random);
    std::fill_n(frames_TF.data() + times.begin * mels, (times.end - times.begin) * mels, mean);
  }
}

}  // namespace attend
