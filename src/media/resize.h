// Pictures of another size.
#ifndef ATTEND_MEDIA_RESIZE_H_
#define ATTEND_MEDIA_RESIZE_H_

#include <cstdint>

#include "media/picture.h"

namespace attend {

enum class Interpolation { kBilinear, kBicubic };

// Equal to Pillow's Image.resize to the bit. Where a picture shrinks, each new pixel is a mean over
// all that it covers (antialiasing). Precondition: width and height are positive.
Picture Resize(const Picture& picture, int64_t width, int64_t height, Interpolation interpolation);

// The shorter side becomes `side`, the other one follows, rounded down, as torchvision's
// Resize(side).
Picture ResizeShorterSide(const Picture& picture, int64_t side, Interpolation interpolation);

}  // namespace attend

#endif  // ATTEND_MEDIA_RESIZE_H_
