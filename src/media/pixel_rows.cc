#include "media/pixel_rows.h"

#include <algorithm>

namespace attend {
namespace {

struct Colour {
  uint8_t red = 0, green = 0, blue = 0;
};

// a * b / 255, rounded.
uint8_t Product(unsigned a, unsigned b) {
  const unsigned product = a * b + 128;
  return static_cast<uint8_t>(((product >> 8) + product) >> 8);
}

uint8_t OverWhite(unsigned value, unsigned alpha) {
  const unsigned sum = value * alpha + 255 * (255 - alpha) + 128;
  return static_cast<uint8_t>(((sum >> 8) + sum) >> 8);
}

// What is left of white light after inks, as Pillow has it: no colour profile is asked.
Colour OfInks(const uint8_t* inverted) {
  const auto ink = [&](int i) { return static_cast<uint8_t>(255 - inverted[i]); };
  const unsigned light = inverted[3];
  const auto left = [&](int i) { return static_cast<uint8_t>(light - Product(ink(i), light)); };
  return {left(0), left(1), left(2)};
}

Colour ColourAt(const uint8_t* pixels, PixelLayout layout, int64_t x) {
  switch (layout) {
    case PixelLayout::kGrey:
      return {pixels[x], pixels[x], pixels[x]};
    case PixelLayout::kGreyAlpha: {
      const uint8_t grey = OverWhite(pixels[2 * x], pixels[2 * x + 1]);
      return {grey, grey, grey};
    }
    case PixelLayout::kRgb:
      return {pixels[3 * x], pixels[3 * x + 1], pixels[3 * x + 2]};
    case PixelLayout::kRgba: {
      const uint8_t* pixel = pixels + 4 * x;
      return {OverWhite(pixel[0], pixel[3]), OverWhite(pixel[1], pixel[3]),
              OverWhite(pixel[2], pixel[3])};
    }
    case PixelLayout::kInvertedCmyk:
      return OfInks(pixels + 4 * x);
  }
  return {};
}

}  // namespace

void StoreRow(const uint8_t* pixels, PixelLayout layout, int64_t y, Picture* picture) {
  uint8_t* to = picture->row(y);
  if (static_cast<int64_t>(layout) == picture->channels) {
    std::copy_n(pixels, picture->width * picture->channels, to);
    return;
  }
  for (int64_t x = 0; x < picture->width; ++x) {
    const Colour colour = ColourAt(pixels, layout, x);
    if (picture->channels == 1) {
      to[x] = Luma(colour.red, colour.green, colour.blue);
    } else {
      to[3 * x] = colour.red;
      to[3 * x + 1] = colour.green;
      to[3 * x + 2] = colour.blue;
    }
  }
}

}  // namespace attend
