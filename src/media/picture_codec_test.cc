#include "media/picture_codec.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include <algorithm>
#include <numeric>

#include "attend/error.h"
#include "media/crop.h"

namespace attend {
namespace {

using testing::HasSubstr;

std::string BigEndian(uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
  return bytes;
}

std::string PngChunk(const std::string& kind, const std::string& data) {
  const std::string body = kind + data;
  const auto sum = static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size())));
  return BigEndian(static_cast<uint32_t>(data.size())) + body + BigEndian(sum);
}

std::string Deflated(const std::string& data) {
  uLongf size = compressBound(data.size());
  std::string packed(size, '\0');
  compress(reinterpret_cast<Bytef*>(packed.data()), &size,
           reinterpret_cast<const Bytef*>(data.data()), data.size());
  return packed.substr(0, size);
}

// A grey PNG file that claims a size and has `rows` black rows of `row_bytes`.
std::string GreyPng(uint32_t width, uint32_t height, size_t row_bytes, size_t rows,
                    const std::string& extra = "") {
  const std::string header = BigEndian(width) + BigEndian(height) + std::string("\x08\0\0\0\0", 5);
  return "\x89PNG\r\n\x1a\n" + PngChunk("IHDR", header) + extra +
         PngChunk("IDAT", Deflated(std::string((row_bytes + 1) * rows, '\0'))) +
         PngChunk("IEND", "");
}

std::string Refusal(const std::string& bytes, const PictureLimits& limits = {}) {
  try {
    DecodePicture(bytes, "cat.png", 3, limits);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_THAT(error.what(), HasSubstr("'cat.png'"));
    return error.what();
  }
  return "";
}

Picture Counting(int64_t width, int64_t height, int64_t channels) {
  Picture picture(width, height, channels);
  std::iota(picture.pixels.begin(), picture.pixels.end(), 1);
  return picture;
}

TEST(PictureCodecTest, SizesBeyondLimitsAreRefusedFromTheHeader) {
  EXPECT_EQ(Refusal(GreyPng(4, 3, 4, 3)), "");
  EXPECT_THAT(Refusal(GreyPng(1, 100000, 1, 100)), HasSubstr("1 x 100000 pixels, expected sides"));
  EXPECT_THAT(Refusal(GreyPng(30000, 30000, 1, 1)), HasSubstr("at most 67108864 pixels"));
  EXPECT_THAT(Refusal(GreyPng(2147483647, 2147483647, 1, 1)), HasSubstr("sides of at most 32768"));
  EXPECT_THAT(Refusal(GreyPng(1, 201, 1, 201)), HasSubstr("200 times as long"));
  EXPECT_EQ(Refusal(GreyPng(1, 200, 1, 200)), "");
  EXPECT_THAT(Refusal(GreyPng(4, 3, 4, 3), {.max_pixels = 11}), HasSubstr("at most 11 pixels"));
  EXPECT_EQ(Refusal(GreyPng(4, 3, 4, 3), {.max_pixels = 12}), "");
  const std::string file = GreyPng(4, 3, 4, 3);
  EXPECT_THAT(Refusal(file, {.max_bytes = file.size() - 1}), HasSubstr("bytes, expected at most"));
}

TEST(PictureCodecTest, FilesThatLieAboutTheirContentsAreRefused) {
  EXPECT_THAT(Refusal(GreyPng(0, 3, 1, 3)), HasSubstr("damaged PNG"));
  EXPECT_THAT(Refusal(GreyPng(8, 8, 8, 5)), HasSubstr("damaged PNG"));  // rows are missing
  const std::string claim = "\x70" + std::string(3, '\0') + "eXIfMM";   // two gigabytes
  const std::string good = GreyPng(4, 3, 4, 3);
  EXPECT_THAT(Refusal(good.substr(0, 33) + claim + good.substr(33)), HasSubstr("cut short"));
  EXPECT_EQ(Refusal(good + "more"), "");  // after the end
  EXPECT_THAT(Refusal(""), HasSubstr("is empty"));
  EXPECT_THAT(Refusal("GIF89a"), HasSubstr("begins with 'GIF89a', expected a PNG or JPEG"));
  EXPECT_THAT(Refusal("\xff\xd8\xff\xe0"), HasSubstr("damaged JPEG file: it is cut short"));
  std::string bad_sum = GreyPng(4, 3, 4, 3);
  ++bad_sum[bad_sum.size() - 20];  // in IDAT
  EXPECT_THAT(Refusal(bad_sum), HasSubstr("damaged PNG"));
}

TEST(PictureCodecTest, LibrariesWriteNothingToStandardError) {
  testing::internal::CaptureStderr();
  const std::string png = GreyPng(4, 3, 4, 3, PngChunk("gAMA", "bad"));
  EXPECT_EQ(Refusal(png), "");
  for (size_t size = 0; size < png.size(); ++size) EXPECT_NE(Refusal(png.substr(0, size)), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(PictureCodecTest, PngComesBackAsItWas) {
  for (const int64_t channels : {1, 3}) {
    const Picture picture = Counting(7, 5, channels);
    EXPECT_EQ(DecodePicture(EncodePng(picture), "p", channels), picture);
  }
}

TEST(CropTest, PartsAndMarginsAreWhereTheyShouldBe) {
  const Picture picture = Counting(4, 3, 3);
  EXPECT_EQ(Crop(picture, {0, 0, 4, 3}), picture);
  const Picture part = Crop(picture, {-1, 1, 3, 3});  // a column to the left, a row below
  EXPECT_THAT(std::vector(part.row(0), part.row(1)),
              testing::ElementsAre(0, 0, 0, 13, 14, 15, 16, 17, 18));
  EXPECT_THAT(std::vector(part.row(2), part.row(3)), testing::Each(0));
  EXPECT_THAT(Crop(picture, {9, 9, 2, 2}).pixels, testing::Each(0));

  const Picture padded = Pad(picture, 2);
  EXPECT_EQ(padded.width, 8);
  EXPECT_EQ(padded.height, 7);
  EXPECT_EQ(Crop(padded, {2, 2, 4, 3}), picture);
  EXPECT_EQ(std::accumulate(padded.pixels.begin(), padded.pixels.end(), 0), 36 * 37 / 2);

  EXPECT_EQ(Shift(Shift(picture, 1, 0), -1, 0).row(0)[0], 1);
  EXPECT_EQ(Shift(picture, 1, 1).row(1)[3], 1);
  EXPECT_EQ(Shift(picture, 4, 0), Picture(4, 3, 3));
  EXPECT_EQ(FlipHorizontally(FlipHorizontally(picture)), picture);
  EXPECT_EQ(FlipHorizontally(picture).row(0)[0], 10);
}

}  // namespace
}  // namespace attend
