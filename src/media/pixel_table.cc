#include "media/pixel_table.h"

#include <fmt/format.h>

#include "attend/error.h"

namespace attend {

PixelTable::PixelTable(std::span<const double> mean, std::span<const double> deviation) {
  if (mean.size() != deviation.size() || (mean.size() != 1 && mean.size() != 3)) {
    throw Error(ErrorKind::kConfiguration,
                fmt::format("there are {} means and {} deviations of pixels, expected 1 or 3 of "
                            "each, one for a channel",
                            mean.size(), deviation.size()));
  }
  values_.resize(mean.size());
  for (size_t c = 0; c < mean.size(); ++c) {
    if (!(deviation[c] > 0)) {
      throw Error(ErrorKind::kConfiguration,
                  fmt::format("the deviation of pixels is {}, expected more than 0", deviation[c]));
    }
    for (size_t value = 0; value < 256; ++value)
      values_[c][value] = (static_cast<float>(value) / 255.0f - static_cast<float>(mean[c])) /
                          static_cast<float>(deviation[c]);
  }
}

void PixelTable::ToPlanes(const Picture& picture, std::span<float> out_CHW) const {
  const int64_t pixels = picture.width * picture.height;
  for (int64_t c = 0; c < picture.channels; ++c) {
    float* plane = out_CHW.data() + c * pixels;
    for (int64_t i = 0; i < pixels; ++i)
      plane[i] = values_[c][picture.pixels[i * picture.channels + c]];
  }
}

void PixelTable::ToPatches(const Picture& picture, int64_t patch, std::span<float> out_PI) const {
  float* to = out_PI.data();
  for (int64_t top = 0; top < picture.height; top += patch) {
    for (int64_t left = 0; left < picture.width; left += patch) {
      for (int64_t y = top; y < top + patch; ++y) {
        const uint8_t* from = picture.row(y) + left * picture.channels;
        for (int64_t x = 0; x < patch; ++x) {
          for (int64_t c = 0; c < picture.channels; ++c) *to++ = values_[c][*from++];
        }
      }
    }
  }
}

}  // namespace attend
