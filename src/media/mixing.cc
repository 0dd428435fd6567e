#include "media/mixing.h"

#include <algorithm>
#include <cmath>

namespace attend {
namespace {

// The logarithm of a gamma variable, which for a small shape is too small itself (Marsaglia and
// Tsang 2000, and their way to shapes below 1).
double DrawLogGamma(double shape, Random* random) {
  if (shape < 1) {
    const double rest = std::log(1 - random->Uniform()) / shape;
    return DrawLogGamma(shape + 1, random) + rest;
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = random->Normal();
    const double v = std::pow(1 + c * x, 3);
    const double draw = 1 - random->Uniform();  // above 0
    if (v > 0 && std::log(draw) < 0.5 * x * x + d - d * v + d * std::log(v)) return std::log(d * v);
  }
}

}  // namespace

FieldList Fields(MixingOptions& options) {
  FieldList fields;
  fields
      .Add("mixup", &options.mixup, 0, 100,
           "alpha of mixup: each picture is a mean of two, and so is its label; 0: no mixing")
      .Add("cutmix", &options.cutmix, 0, 100,
           "alpha of CutMix: a box of each picture comes from another; 0: none");
  return fields;
}

double DrawBeta(double alpha, double beta, Random* random) {
  const double a = DrawLogGamma(alpha, random), b = DrawLogGamma(beta, random);
  return 1 / (1 + std::exp(b - a));
}

Mixing DrawMixing(const MixingOptions& options, int64_t width, int64_t height, Random* random) {
  Mixing mixing;
  const bool both = options.mixup > 0 && options.cutmix > 0;
  const bool cut = both ? random->Below(2) == 1 : options.cutmix > 0;
  const double alpha = cut ? options.cutmix : options.mixup;
  if (alpha <= 0) return mixing;
  mixing.own_share = DrawBeta(alpha, alpha, random);
  if (!cut) return mixing;
  const double half = 0.5 * std::sqrt(1 - mixing.own_share);
  const auto span_of = [&](int64_t side, int64_t* first, int64_t* length) {
    const auto middle = static_cast<int64_t>(random->Below(static_cast<uint64_t>(side)));
    const auto reach = static_cast<int64_t>(half * static_cast<double>(side));
    *first = std::max<int64_t>(0, middle - reach);
    *length = std::min(side, middle + reach) - *first;
  };
  span_of(width, &mixing.box.x, &mixing.box.width);
  span_of(height, &mixing.box.y, &mixing.box.height);
  mixing.own_share = 1 - static_cast<double>(mixing.box.width * mixing.box.height) /
                             static_cast<double>(width * height);
  return mixing;
}

void MixInto(std::span<const float> other, double own_share, std::span<float> own) {
  const auto share = static_cast<float>(own_share);
  for (size_t i = 0; i < own.size(); ++i) own[i] = share * own[i] + (1 - share) * other[i];
}

void Paste(const Picture& other, const Box& box, Picture* picture) {
  for (int64_t y = box.y; y < box.y + box.height; ++y) {
    std::copy_n(other.row(y) + box.x * other.channels, box.width * other.channels,
                picture->row(y) + box.x * picture->channels);
  }
}

}  // namespace attend
