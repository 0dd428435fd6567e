#include "media/patch_numbers.h"

#include <fmt/format.h>

#include "attend/error.h"

namespace attend {

PatchNumbers::PatchNumbers(const PatchInput& input) : input_(input), tables_(input.channels) {
  const auto of_channel = [](const std::vector<double>& numbers, int64_t channel) {
    return numbers.size() == 1 ? numbers[0] : numbers[channel];
  };
  for (int64_t channel = 0; channel < input.channels; ++channel) {
    const double mean = of_channel(input.mean, channel);
    const double deviation = of_channel(input.deviation, channel);
    for (int pixel = 0; pixel < 256; ++pixel)
      tables_[channel][pixel] = static_cast<float>((pixel / 255.0 - mean) / deviation);
  }
}

std::vector<float> PatchNumbers::Of(std::span<const uint8_t> pixels) const {
  if (std::ssize(pixels) != input_.bytes()) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("a picture has {} bytes, expected {}: {} x {} pixels of {}", pixels.size(),
                    input_.bytes(), input_.width, input_.height, input_.channels));
  }
  std::vector<float> numbers;
  numbers.reserve(pixels.size());
  const int64_t run = input_.patch * input_.channels;  // a row of a patch
  for (int64_t top = 0; top < input_.height; top += input_.patch) {
    for (int64_t left = 0; left < input_.width; left += input_.patch) {
      for (int64_t y = top; y < top + input_.patch; ++y) {
        const auto row = pixels.subspan((y * input_.width + left) * input_.channels, run);
        for (int64_t i = 0; i < run; ++i) numbers.push_back(tables_[i % input_.channels][row[i]]);
      }
    }
  }
  return numbers;
}

}  // namespace attend
