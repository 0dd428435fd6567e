#include "media/patch_numbers.h"

#include <gmock/gmock.h>

#include "attend/error.h"
#include "media/fit_picture.h"

namespace attend {
namespace {

// Each number tells where its pixel stood.
TEST(PatchNumbersTest, PatchesRowByRowChannelsSideBySide) {
  const PatchInput input{.height = 4,
                         .width = 6,
                         .channels = 3,
                         .patch = 2,
                         .mean = {0, 0.5, 0},
                         .deviation = {1.0 / 255}};
  std::vector<uint8_t> pixels;
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 6; ++x)
      for (int c = 0; c < 3; ++c) pixels.push_back(static_cast<uint8_t>(60 * y + 10 * x + c));
  const std::vector<float> numbers = PatchNumbers(input).Of(pixels);
  size_t next = 0;
  for (int top = 0; top < 4; top += 2)
    for (int left = 0; left < 6; left += 2)
      for (int y = top; y < top + 2; ++y)
        for (int x = left; x < left + 2; ++x)
          for (int c = 0; c < 3; ++c)
            EXPECT_NEAR(numbers[next++], 60 * y + 10 * x + c - (c == 1 ? 127.5 : 0), 1e-4);
  EXPECT_EQ(next, numbers.size());
  pixels.pop_back();
  EXPECT_THROW(PatchNumbers(input).Of(pixels), Error);
}

TEST(FitPictureTest, StretchesOrCutsTheMiddle) {
  Picture picture(40, 20, 3);
  for (int64_t y = 0; y < 20; ++y)
    for (int64_t x = 10; x < 30; ++x)
      for (int c = 0; c < 3; ++c) picture.row(y)[3 * x + c] = 200;  // its middle
  PatchInput input{.height = 10, .width = 10, .channels = 1, .patch = 5};
  const Picture stretched = FitPicture(picture, input);
  EXPECT_EQ(stretched.width, 10);
  EXPECT_EQ(stretched.channels, 1);
  EXPECT_EQ(stretched.row(5)[0], 0);
  EXPECT_EQ(stretched.row(5)[5], 200);
  input.fit = PictureFit::kCrop;
  const Picture cropped = FitPicture(picture, input);
  EXPECT_EQ(cropped.height, 10);
  for (int64_t x = 1; x < 9; ++x) EXPECT_EQ(cropped.row(5)[x], 200);
}

}  // namespace
}  // namespace attend
