// Pixels as a model reads them: numbers around zero.
#ifndef ATTEND_MEDIA_PIXEL_TABLE_H_
#define ATTEND_MEDIA_PIXEL_TABLE_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "media/picture.h"

namespace attend {

// (pixel / 255 - mean) / deviation of each channel, in f32 as torchvision's ToTensor and Normalize.
// Immutable; safe to use from many threads.
class PixelTable {
 public:
  // One number for each channel, of pixels from 0 to 1. Throws Error(kConfiguration) unless both
  // have 1 or both 3, and where a deviation is not positive.
  PixelTable(std::span<const double> mean, std::span<const double> deviation);

  int64_t channels() const { return static_cast<int64_t>(values_.size()); }

  // Preconditions of both: the picture has as many channels, and `out` room for all its pixels.

  // Plane by plane: [channels, height, width].
  void ToPlanes(const Picture& picture, std::span<float> out_CHW) const;

  // Square after square, row by row of them: [height / patch * (width / patch), patch * patch *
  // channels]. Within one, pixels row by row, channels last; so a convolution's weights [D, C,
  // patch, patch] become rows of weights as [D, patch, patch, C]. Precondition: `patch` divides
  // width and height.
  void ToPatches(const Picture& picture, int64_t patch, std::span<float> out_PI) const;

 private:
  std::vector<std::array<float, 256>> values_;  // by channel and pixel
};

}  // namespace attend

#endif  // ATTEND_MEDIA_PIXEL_TABLE_H_
