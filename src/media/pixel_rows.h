// Rows of pixels as codecs give them, made into rows of a Picture.
#ifndef ATTEND_MEDIA_PIXEL_ROWS_H_
#define ATTEND_MEDIA_PIXEL_ROWS_H_

#include <cstdint>

#include "media/picture.h"

namespace attend {

enum class PixelLayout { kGrey = 1, kGreyAlpha = 2, kRgb = 3, kRgba = 4, kInvertedCmyk = 5 };

// Writes row `y` of `picture` from as many pixels of `layout`. Alpha shows white behind it.
void StoreRow(const uint8_t* pixels, PixelLayout layout, int64_t y, Picture* picture);

}  // namespace attend

#endif  // ATTEND_MEDIA_PIXEL_ROWS_H_
