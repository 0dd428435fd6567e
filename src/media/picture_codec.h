// PNG and JPEG in, PNG out.
//
// Foreign bytes are checked against limits from their header, before memory is taken. Every
// function throws Error(kInput) that names the picture and what is wrong with it. Safe to call from
// many threads.
#ifndef ATTEND_MEDIA_PICTURE_CODEC_H_
#define ATTEND_MEDIA_PICTURE_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "media/picture.h"

namespace attend {

// What a foreign picture may ask for. A decoder takes at most some 15 bytes a pixel.
struct PictureLimits {
  size_t max_bytes = size_t{1} << 26;     // of the file
  int64_t max_pixels = int64_t{1} << 26;  // width times height
  int64_t max_side = 1 << 15;
  int64_t max_ratio = 200;  // of the longer side to the shorter one
};

// Throws for a width or height of 0, and for what is over a limit.
void CheckPictureSize(int64_t width, int64_t height, const PictureLimits& limits,
                      const std::string& name);

// Decodes a PNG or JPEG file, found by its first bytes, to 1 or 3 channels, upright by its EXIF
// orientation. Transparent parts show white; of 16 bits the upper 8 are taken; CMYK is taken
// inverted, as Adobe writes it. Pixels equal Pillow's after ImageOps.exif_transpose and convert
// (but grey of 16 bits, which Pillow clips). `name` stands in messages. A file that is cut short or
// whose data are damaged is refused, even where a viewer would show a part.
Picture DecodePicture(std::string_view bytes, const std::string& name, int64_t channels,
                      const PictureLimits& limits = {});

Picture ReadPicture(const std::filesystem::path& path, int64_t channels,
                    const PictureLimits& limits = {});

std::string EncodePng(const Picture& picture);
// "data:image/png;base64,...", as a page takes a picture.
std::string PngDataUrl(const Picture& picture);

}  // namespace attend

#endif  // ATTEND_MEDIA_PICTURE_CODEC_H_
