#include "media/resize.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace attend {
namespace {

// Weights are integers of so many fractional bits: 8 bits of a pixel and 2 for overshoot are left
// of 32.
constexpr int kWeightBits = 32 - 8 - 2;

double Triangle(double x) { return std::max(0.0, 1.0 - std::abs(x)); }

// Keys' cubic convolution (1981) with a = -0.5.
double Cubic(double x) {
  constexpr double kA = -0.5;
  x = std::abs(x);
  if (x < 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * kA;
  return 0;
}

// Where one new pixel begins in the old ones, and their weights.
struct Window {
  int64_t first = 0;
  std::vector<int32_t> weights;
};

std::vector<Window> MakeWindows(int64_t from, int64_t to, Interpolation interpolation) {
  const bool cubic = interpolation == Interpolation::kBicubic;
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double stretch = std::max(scale, 1.0);  // of the filter, where the picture shrinks
  const double reach = (cubic ? 2.0 : 1.0) * stretch;
  const double per_pixel = 1.0 / stretch;
  std::vector<Window> windows(to);
  std::vector<double> weights;
  for (int64_t i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    const auto first = std::max<int64_t>(0, static_cast<int64_t>(centre - reach + 0.5));
    const auto last = std::min(from, static_cast<int64_t>(centre + reach + 0.5));
    double sum = 0;
    weights.clear();
    for (int64_t x = first; x < last; ++x) {
      const double at = (static_cast<double>(x) - centre + 0.5) * per_pixel;
      weights.push_back(cubic ? Cubic(at) : Triangle(at));
      sum += weights.back();
    }
    windows[i].first = first;
    for (const double weight : weights) {
      const double share = sum != 0 ? weight / sum : weight;
      windows[i].weights.push_back(
          static_cast<int32_t>(share * (1 << kWeightBits) + (share < 0 ? -0.5 : 0.5)));
    }
  }
  return windows;
}

constexpr int32_t kHalf = 1 << (kWeightBits - 1);

uint8_t PixelOf(int32_t sum) {
  return static_cast<uint8_t>(std::clamp(sum >> kWeightBits, 0, 255));
}

Picture ResizeRows(const Picture& picture, int64_t width, Interpolation interpolation) {
  const std::vector<Window> windows = MakeWindows(picture.width, width, interpolation);
  Picture resized(width, picture.height, picture.channels);
  for (int64_t y = 0; y < picture.height; ++y) {
    uint8_t* to = resized.row(y);
    for (const Window& window : windows) {
      for (int64_t c = 0; c < picture.channels; ++c) {
        const uint8_t* value = picture.row(y) + window.first * picture.channels + c;
        int32_t sum = kHalf;
        for (const int32_t weight : window.weights) {
          sum += *value * weight;
          value += picture.channels;
        }
        *to++ = PixelOf(sum);
      }
    }
  }
  return resized;
}

Picture ResizeColumns(const Picture& picture, int64_t height, Interpolation interpolation) {
  const std::vector<Window> windows = MakeWindows(picture.height, height, interpolation);
  Picture resized(picture.width, height, picture.channels);
  const int64_t row = picture.width * picture.channels;
  std::vector<int32_t> sums(row);
  for (int64_t y = 0; y < height; ++y) {
    std::ranges::fill(sums, kHalf);
    const uint8_t* values = picture.row(windows[y].first);
    for (const int32_t weight : windows[y].weights) {
      for (int64_t i = 0; i < row; ++i) sums[i] += values[i] * weight;
      values += row;
    }
    std::ranges::transform(sums, resized.row(y), PixelOf);
  }
  return resized;
}

}  // namespace

Picture Resize(const Picture& picture, int64_t width, int64_t height, Interpolation interpolation) {
  Picture resized = width == picture.width ? picture : ResizeRows(picture, width, interpolation);
  return height == resized.height ? resized : ResizeColumns(resized, height, interpolation);
}

Picture ResizeShorterSide(const Picture& picture, int64_t side, Interpolation interpolation) {
  const int64_t shorter = std::min(picture.width, picture.height);
  const auto longer = [&](int64_t old) { return std::max<int64_t>(1, side * old / shorter); };
  if (picture.width <= picture.height)
    return Resize(picture, side, longer(picture.height), interpolation);
  return Resize(picture, longer(picture.width), side, interpolation);
}

}  // namespace attend
