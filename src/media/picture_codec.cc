#include "media/picture_codec.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/error.h"
#include "base/excerpt.h"
#include "base/files.h"
#include "media/picture_decoders.h"

namespace attend {

void CheckPictureSize(int64_t width, int64_t height, const PictureLimits& limits,
                      const std::string& name) {
  const auto refuse = [&](const std::string& expected) {
    throw Error(ErrorKind::kInput, fmt::format("'{}' is a picture of {} x {} pixels, expected {}",
                                               name, width, height, expected));
  };
  if (width <= 0 || height <= 0) refuse("at least 1 x 1");
  const int64_t longer = std::max(width, height), shorter = std::min(width, height);
  if (longer > limits.max_side) refuse(fmt::format("sides of at most {}", limits.max_side));
  if (width * height > limits.max_pixels)
    refuse(fmt::format("at most {} pixels in all", limits.max_pixels));
  if (longer > limits.max_ratio * shorter)
    refuse(fmt::format("one side at most {} times as long as the other", limits.max_ratio));
}

Picture DecodePicture(std::string_view bytes, const std::string& name, int64_t channels,
                      const PictureLimits& limits) {
  if (bytes.size() > limits.max_bytes) {
    throw Error(ErrorKind::kInput, fmt::format("'{}' has {} bytes, expected at most {}", name,
                                               bytes.size(), limits.max_bytes));
  }
  if (bytes.starts_with(kPngMagic)) return DecodePng(bytes, name, channels, limits);
  if (bytes.starts_with(kJpegMagic)) return DecodeJpeg(bytes, name, channels, limits);
  if (bytes.empty())
    throw Error(ErrorKind::kInput, fmt::format("'{}' is empty, expected a PNG or JPEG file", name));
  throw Error(ErrorKind::kInput, fmt::format("'{}' begins with '{}', expected a PNG or JPEG file",
                                             name, Excerpt(bytes.substr(0, 8))));
}

Picture ReadPicture(const std::filesystem::path& path, int64_t channels,
                    const PictureLimits& limits) {
  return DecodePicture(ReadFile(path, limits.max_bytes), path.string(), channels, limits);
}

}  // namespace attend
