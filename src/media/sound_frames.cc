#include "media/sound_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attend/error.h"

namespace attend {
namespace {

constexpr float kSteps = 32768;  // of 16 bits, from 0 to 1

}  // namespace

SoundFrames::SoundFrames(const FrameInput& input) : input_(input), log_mel_(input) {}

int64_t SoundFrames::Count(int64_t samples) const {
  return input_.FramesOf(std::max(samples, input_.padded_samples()));
}

std::vector<float> SoundFrames::Of(std::span<const float> samples, const std::string& name,
                                   double warp) const {
  const int64_t filled = input_.padded_samples();
  if (samples.empty()) throw Error(ErrorKind::kInput, name + ": has no sound");
  if (filled == 0 || std::ssize(samples) == filled) return log_mel_.Frames(samples, warp);
  if (std::ssize(samples) > filled) {
    throw Error(ErrorKind::kInput,
                fmt::format("{}: has {:.1f} seconds, and the model reads {} at most", name,
                            static_cast<double>(samples.size()) / static_cast<double>(input_.rate),
                            input_.padded_seconds));
  }
  std::vector<float> whole(samples.begin(), samples.end());
  whole.resize(filled);
  return log_mel_.Frames(whole, warp);
}

std::vector<int16_t> SixteenBits(std::span<const float> samples) {
  std::vector<int16_t> numbers;
  numbers.reserve(samples.size());
  for (const float sample : samples) {
    const float step = std::nearbyint(sample * kSteps);
    numbers.push_back(static_cast<int16_t>(std::clamp(step, -kSteps, kSteps - 1)));
  }
  return numbers;
}

std::vector<float> OfSixteenBits(std::span<const int16_t> samples) {
  std::vector<float> numbers;
  numbers.reserve(samples.size());
  for (const int16_t sample : samples) numbers.push_back(static_cast<float>(sample) / kSteps);
  return numbers;
}

}  // namespace attend
