#include "media/crop.h"

#include <algorithm>

namespace attend {
namespace {

// Half of it, halves to even.
int64_t HalfToEven(int64_t number) {
  const int64_t half = number / 2;
  return number % 2 == 0 ? half : half + half % 2;
}

// Where a part of `part` pixels begins. Of a smaller whole the margin before it is the rounded-down
// half, and what is cut after that has no rest.
int64_t CentreOf(int64_t whole, int64_t part) {
  return whole >= part ? HalfToEven(whole - part) : -((part - whole) / 2);
}

}  // namespace

Picture Crop(const Picture& picture, const Box& box) {
  Picture part(box.width, box.height, picture.channels);
  const int64_t left = std::max<int64_t>(box.x, 0);
  const int64_t right = std::min(box.x + box.width, picture.width);
  if (left >= right) return part;
  for (int64_t y = std::max<int64_t>(box.y, 0); y < std::min(box.y + box.height, picture.height);
       ++y) {
    std::copy_n(picture.row(y) + left * picture.channels, (right - left) * picture.channels,
                part.row(y - box.y) + (left - box.x) * picture.channels);
  }
  return part;
}

Picture CentreCrop(const Picture& picture, int64_t width, int64_t height) {
  return Crop(picture,
              {CentreOf(picture.width, width), CentreOf(picture.height, height), width, height});
}

Picture Pad(const Picture& picture, int64_t margin) {
  return Crop(picture, {-margin, -margin, picture.width + 2 * margin, picture.height + 2 * margin});
}

Picture Shift(const Picture& picture, int64_t right, int64_t down) {
  return Crop(picture, {-right, -down, picture.width, picture.height});
}

Picture FlipHorizontally(const Picture& picture) {
  Picture flipped(picture.width, picture.height, picture.channels);
  for (int64_t y = 0; y < picture.height; ++y) {
    for (int64_t x = 0; x < picture.width; ++x) {
      std::copy_n(picture.row(y) + x * picture.channels, picture.channels,
                  flipped.row(y) + (picture.width - 1 - x) * picture.channels);
    }
  }
  return flipped;
}

}  // namespace attend
