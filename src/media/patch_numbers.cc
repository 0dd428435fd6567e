#include "media/patch_numbers.h"

#include <fmt/format.h>

#include <array>

#include "attend/error.h"

namespace attend {
namespace {

// By channel and pixel.
std::vector<std::array<float, 256>> NumbersOfPixels(const PatchInput& input) {
  std::vector<std::array<float, 256>> tables(input.channels);
  const auto of_channel = [](const std::vector<double>& numbers, int64_t channel) {
    return numbers.size() == 1 ? numbers[0] : numbers[channel];
  };
  for (int64_t channel = 0; channel < input.channels; ++channel) {
    const double mean = of_channel(input.mean, channel);
    const double deviation = of_channel(input.deviation, channel);
    for (int pixel = 0; pixel < 256; ++pixel)
      tables[channel][pixel] = static_cast<float>((pixel / 255.0 - mean) / deviation);
  }
  return tables;
}

}  // namespace

std::vector<float> PatchNumbers(std::span<const uint8_t> pixels, const PatchInput& input) {
  if (std::ssize(pixels) != input.bytes()) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("a picture has {} bytes, expected {}: {} x {} pixels of {}", pixels.size(),
                    input.bytes(), input.width, input.height, input.channels));
  }
  const std::vector<std::array<float, 256>> tables = NumbersOfPixels(input);
  std::vector<float> numbers;
  numbers.reserve(pixels.size());
  const int64_t run = input.patch * input.channels;  // a row of a square
  for (int64_t top = 0; top < input.height; top += input.patch) {
    for (int64_t left = 0; left < input.width; left += input.patch) {
      for (int64_t y = top; y < top + input.patch; ++y) {
        const auto row = pixels.subspan((y * input.width + left) * input.channels, run);
        for (int64_t i = 0; i < run; ++i) numbers.push_back(tables[i % input.channels][row[i]]);
      }
    }
  }
  return numbers;
}

}  // namespace attend
