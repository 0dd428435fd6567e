// The decoder of each format, which DecodePicture chooses from.
#ifndef ATTEND_MEDIA_PICTURE_DECODERS_H_
#define ATTEND_MEDIA_PICTURE_DECODERS_H_

#include <string>
#include <string_view>

#include "media/picture_codec.h"

namespace attend {

inline constexpr std::string_view kPngMagic("\x89PNG\r\n\x1a\n", 8);
inline constexpr std::string_view kJpegMagic("\xff\xd8\xff", 3);

Picture DecodePng(std::string_view bytes, const std::string& name, int64_t channels,
                  const PictureLimits& limits);
Picture DecodeJpeg(std::string_view bytes, const std::string& name, int64_t channels,
                   const PictureLimits& limits);

}  // namespace attend

#endif  // ATTEND_MEDIA_PICTURE_DECODERS_H_
