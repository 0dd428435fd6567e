// A picture in memory: what the decoders give, and what changes and models take.
#ifndef ATTEND_MEDIA_PICTURE_H_
#define ATTEND_MEDIA_PICTURE_H_

#include <cstdint>
#include <vector>

namespace attend {

// Pixels row by row from the top, in a row from the left, channels last: grey (1) or red, green and
// blue (3), 0 to 255. A plain value.
struct Picture {
  Picture() = default;
  // All zero, which is black.
  Picture(int64_t width, int64_t height, int64_t channels);

  uint8_t* row(int64_t y) { return pixels.data() + y * width * channels; }
  const uint8_t* row(int64_t y) const { return pixels.data() + y * width * channels; }
  bool operator==(const Picture&) const = default;

  int64_t width = 0, height = 0, channels = 0;
  std::vector<uint8_t> pixels;  // [height, width, channels]
};

// Brightness of a colour by ITU-R BT.601, in 16-bit fixed point as Pillow's convert("L") has it.
inline uint8_t Luma(uint8_t red, uint8_t green, uint8_t blue) {
  return static_cast<uint8_t>((red * 19595u + green * 38470u + blue * 7471u + 0x8000u) >> 16);
}

// Grey made of colours by Luma, or grey three times. Precondition: channels is 1 or 3.
Picture ToChannels(const Picture& picture, int64_t channels);

}  // namespace attend

#endif  // ATTEND_MEDIA_PICTURE_H_
