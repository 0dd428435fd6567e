#include "media/picture.h"

#include <algorithm>

namespace attend {

Picture::Picture(int64_t width, int64_t height, int64_t channels)
    : width(width),
      height(height),
      channels(channels),
      pixels(static_cast<size_t>(width * height * channels)) {}

Picture ToChannels(const Picture& picture, int64_t channels) {
  if (picture.channels == channels) return picture;
  Picture changed(picture.width, picture.height, channels);
  const uint8_t* from = picture.pixels.data();
  uint8_t* to = changed.pixels.data();
  for (int64_t i = 0; i < picture.width * picture.height; ++i) {
    if (channels == 1) {
      to[i] = Luma(from[3 * i], from[3 * i + 1], from[3 * i + 2]);
    } else {
      std::fill_n(to + 3 * i, 3, from[i]);
    }
  }
  return changed;
}

}  // namespace attend
