#include "media/mel_filters.h"

#include <algorithm>
#include <cmath>

namespace attend {
namespace {

constexpr double kLinearStep = 200.0 / 3;  // Hz a mel
constexpr double kBend = 1000;             // Hz, where the scale becomes logarithmic
constexpr double kBendMel = kBend / kLinearStep;
const double kLogStep = std::log(6.4) / 27;  // of a mel

double MelOf(double hertz) {
  return hertz < kBend ? hertz / kLinearStep : kBendMel + std::log(hertz / kBend) / kLogStep;
}

double HertzOf(double mel) {
  return mel < kBendMel ? mel * kLinearStep : kBend * std::exp(kLogStep * (mel - kBendMel));
}

// Where a sound of `hertz` is before it is seen `warp` times as high.
double Unwarped(double hertz, double warp, double half_rate) {
  constexpr double kFormants = 4800, kMostOfHalf = 0.85;
  const double bend = std::min(kFormants, kMostOfHalf * half_rate) * std::min(warp, 1.0);
  if (hertz <= bend) return hertz / warp;
  return half_rate - (half_rate - bend / warp) * (half_rate - hertz) / (half_rate - bend);
}

}  // namespace

std::vector<MelFilter> MakeMelFilters(int64_t rate, int64_t fft, int64_t mels, double low,
                                      double high, double warp) {
  const double first = MelOf(low), step = (MelOf(high) - first) / static_cast<double>(mels + 1);
  const auto corner = [&](int64_t i) {
    const double hertz = HertzOf(first + step * static_cast<double>(i));
    return warp == 1 ? hertz : Unwarped(hertz, warp, static_cast<double>(rate) / 2);
  };
  const double per_bin = static_cast<double>(rate) / static_cast<double>(fft);
  std::vector<MelFilter> filters(mels);
  for (int64_t mel = 0; mel < mels; ++mel) {
    const double left = corner(mel), top = corner(mel + 1), right = corner(mel + 2);
    const double height = 2 / (right - left);
    MelFilter& filter = filters[mel];
    for (int64_t bin = 0; bin <= fft / 2; ++bin) {
      const double hertz = per_bin * static_cast<double>(bin);
      const double weight =
          std::min((hertz - left) / (top - left), (right - hertz) / (right - top));
      if (weight <= 0) continue;
      if (filter.weights.empty()) filter.first = bin;
      filter.weights.push_back(weight * height);
    }
  }
  return filters;
}

}  // namespace attend
