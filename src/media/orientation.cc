#include "media/orientation.h"

#include <algorithm>
#include <cstdint>

namespace attend {
namespace {

constexpr uint32_t kOrientationTag = 0x0112, kShort = 3, kLong = 4;
constexpr std::string_view kPrefix("Exif\0\0", 6);

// Numbers of a TIFF file, in its byte order; 0 past its end.
class TiffBytes {
 public:
  explicit TiffBytes(std::string_view bytes) : bytes_(bytes), big_(bytes.starts_with("MM")) {}
  uint32_t Number(size_t at, size_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at) return 0;
    uint32_t number = 0;
    for (size_t i = 0; i < size; ++i) {
      const auto byte = static_cast<uint8_t>(bytes_[big_ ? at + i : at + size - 1 - i]);
      number = number << 8 | byte;
    }
    return number;
  }

 private:
  std::string_view bytes_;
  bool big_;
};

}  // namespace

int OrientationOf(std::string_view exif) {
  if (exif.starts_with(kPrefix)) exif.remove_prefix(kPrefix.size());
  if (!exif.starts_with("II") && !exif.starts_with("MM")) return 1;
  const TiffBytes tiff(exif);
  const size_t directory = tiff.Number(4, 4);
  const uint32_t entries = tiff.Number(directory, 2);
  for (uint32_t i = 0; i < entries; ++i) {
    const size_t entry = directory + 2 + size_t{12} * i;
    if (entry > exif.size()) break;
    if (tiff.Number(entry, 2) != kOrientationTag) continue;
    const uint32_t type = tiff.Number(entry + 2, 2);
    if (type != kShort && type != kLong) return 1;
    const uint32_t value = tiff.Number(entry + 8, type == kShort ? 2 : 4);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

Picture Upright(Picture picture, int orientation) {
  if (orientation <= 1 || orientation > 8) return picture;
  const bool swapped = orientation >= 5;  // rows become columns
  const bool from_right =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool from_below =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const int64_t width = swapped ? picture.height : picture.width;
  const int64_t height = swapped ? picture.width : picture.height;
  Picture upright(width, height, picture.channels);
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      int64_t from_x = swapped ? y : x, from_y = swapped ? x : y;
      if (from_right) from_x = picture.width - 1 - from_x;
      if (from_below) from_y = picture.height - 1 - from_y;
      std::copy_n(picture.row(from_y) + from_x * picture.channels, picture.channels,
                  upright.row(y) + x * picture.channels);
    }
  }
  return upright;
}

}  // namespace attend
