#include <zlib.h>

#include <algorithm>

#include "fuzz/harness.h"
#include "media/picture_codec.h"
#include "media/resize.h"

namespace attend {
namespace {

constexpr size_t kPngMagicBytes = 8, kPngFrame = 12;  // length, kind and sum around a chunk's data

uint32_t NumberAt(const std::string& bytes, size_t at) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<uint8_t>(bytes[at + i]);
  return number;
}

// With right sums, so that damage gets further than the check of them.
std::string WithSums(std::string png) {
  for (size_t at = kPngMagicBytes; at + kPngFrame <= png.size();) {
    const size_t size = NumberAt(png, at);
    if (size > png.size() - at - kPngFrame) break;
    const auto sum = static_cast<uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(png.data() + at + 4), static_cast<uInt>(size + 4)));
    for (size_t i = 0; i < 4; ++i) png[at + 8 + size + i] = static_cast<char>(sum >> (24 - 8 * i));
    at += size + kPngFrame;
  }
  return png;
}

void ReadForeignPicture(std::string_view bytes) {
  const PictureLimits limits{.max_bytes = 1 << 20, .max_pixels = 1 << 18, .max_side = 1 << 12};
  for (const int64_t channels : {1, 3}) {
    const Picture picture = DecodePicture(bytes, "f", channels, limits);
    if (picture.channels != channels || picture.width * picture.height > limits.max_pixels ||
        std::ssize(picture.pixels) != picture.width * picture.height * channels)
      std::abort();
    if (DecodePicture(EncodePng(picture), "f", channels, limits) != picture) std::abort();
    Resize(picture, 7, 5, Interpolation::kBicubic);
  }
}

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  const std::string with_sums = WithSums({reinterpret_cast<const char*>(data), size});
  ReadForeign(reinterpret_cast<const uint8_t*>(with_sums.data()), with_sums.size(),
              ErrorKind::kInput, ReadForeignPicture);
  return ReadForeign(data, size, ErrorKind::kInput, ReadForeignPicture);
}
