// Parts of pictures, and pictures with something around them. What lies outside is zero, which is
// black.
#ifndef ATTEND_MEDIA_CROP_H_
#define ATTEND_MEDIA_CROP_H_

#include <cstdint>

#include "media/picture.h"

namespace attend {

// In pixels from the upper left corner.
struct Box {
  int64_t x = 0, y = 0, width = 0, height = 0;
  bool operator==(const Box&) const = default;
};

// May reach over the edges.
Picture Crop(const Picture& picture, const Box& box);

// As torchvision's CenterCrop: an odd rest is divided by rounding halves to even, and a smaller
// picture gets margins.
Picture CentreCrop(const Picture& picture, int64_t width, int64_t height);

// So many pixels on each side.
Picture Pad(const Picture& picture, int64_t margin);

// Content moves to the right and down; the size stays.
Picture Shift(const Picture& picture, int64_t right, int64_t down);

Picture FlipHorizontally(const Picture& picture);

}  // namespace attend

#endif  // ATTEND_MEDIA_CROP_H_
