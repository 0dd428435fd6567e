#include "media/augmentation.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>
#include <set>

#include "attend/error.h"
#include "media/mixing.h"
#include "media/picture_changes.h"

namespace attend {
namespace {

using testing::Each;
using testing::ElementsAre;

Picture Noise(int64_t width, int64_t height, int64_t channels, uint64_t seed) {
  Picture picture(width, height, channels);
  Random random({seed});
  for (uint8_t& pixel : picture.pixels) pixel = static_cast<uint8_t>(1 + random.Below(255));
  return picture;
}

constexpr uint8_t kFill[] = {1, 2, 3};

// What one of these options does to a picture, by key.
std::vector<Picture> Drawn(const AugmentationOptions& options, const Picture& picture, int draws) {
  std::vector<Picture> drawn;
  for (int key = 0; key < draws; ++key)
    drawn.push_back(Augment(picture, options, picture.width, picture.height, kFill, key));
  return drawn;
}

TEST(AugmentationTest, NothingAskedForChangesNothing) {
  const Picture picture = Noise(9, 7, 3, 1);
  EXPECT_EQ(Drawn({}, picture, 1)[0], picture);
}

TEST(AugmentationTest, ShiftsReachEveryPlaceEquallyOften) {
  Picture dot(9, 9, 1);
  dot.row(4)[4] = 200;
  std::vector<int> counts(81);
  for (const Picture& each : Drawn({.shift = 1}, dot, 900))
    ++counts[std::ranges::find(each.pixels, 200) - each.pixels.begin()];
  for (int y = 0; y < 9; ++y) {
    for (int x = 0; x < 9; ++x) {
      const bool near = std::abs(x - 4) <= 1 && std::abs(y - 4) <= 1;
      EXPECT_NEAR(counts[9 * y + x], near ? 100 : 0, near ? 40 : 0) << x << " " << y;
    }
  }
  int middle = 0;
  for (const Picture& each : Drawn({.crop_margin = 2}, dot, 1000)) middle += each == dot ? 1 : 0;
  EXPECT_NEAR(middle, 40, 25);  // one of 5 x 5 places
}

TEST(AugmentationTest, FlipsAtItsRate) {
  const Picture picture = Noise(9, 7, 3, 1);
  int flipped = 0;
  for (const Picture& each : Drawn({.flip = 0.3}, picture, 1000)) {
    EXPECT_TRUE(each == picture || each == FlipHorizontally(picture));
    flipped += each == picture ? 0 : 1;
  }
  EXPECT_NEAR(flipped, 300, 60);
}

TEST(AugmentationTest, KeysAloneDecideAndKindsDrawApart) {
  const Picture picture = Noise(20, 20, 3, 2);
  const AugmentationOptions all{.shift = 2,
                                .flip = 0.5,
                                .crop_margin = 2,
                                .crop_area = 0.3,
                                .rand_augment = 2,
                                .rand_magnitude = 9,
                                .erase = 0.5};
  const std::vector<Picture> once = Drawn(all, picture, 20), again = Drawn(all, picture, 20);
  EXPECT_EQ(once, again);
  EXPECT_EQ(std::set(once.begin(), once.end(),
                     [](const Picture& a, const Picture& b) { return a.pixels < b.pixels; })
                .size(),
            20u);
  // Flipping leaves where pictures are shifted to.
  for (int key = 0; key < 20; ++key) {
    const Picture shifted = Augment(picture, {.shift = 3}, 20, 20, kFill, key);
    const Picture both = Augment(picture, {.shift = 3, .flip = 1}, 20, 20, kFill, key);
    EXPECT_EQ(both, FlipHorizontally(shifted));
  }
}

TEST(AugmentationTest, ResizedCropsHaveTheAreasAndRatiosAskedFor) {
  Random random({1});
  double area_sum = 0, log_sum = 0;
  for (int i = 0; i < 4000; ++i) {
    const Box box = DrawResizedCrop(400, 400, 0.1, &random);
    ASSERT_TRUE(box.x >= 0 && box.y >= 0 && box.x + box.width <= 400 && box.y + box.height <= 400);
    const double area = static_cast<double>(box.width * box.height) / 160000;
    const double ratio = static_cast<double>(box.width) / static_cast<double>(box.height);
    ASSERT_GT(area, 0.095);
    ASSERT_LT(std::abs(std::log(ratio)), std::log(4.0 / 3) + 0.03);
    area_sum += area;
    log_sum += std::log(ratio);
  }
  // An area a fits where |log(ratio)| <= -log(a): the mean of those that do, by integrals.
  EXPECT_NEAR(area_sum / 4000, 0.488, 0.012);
  EXPECT_NEAR(log_sum / 4000, 0, 0.01);
  EXPECT_EQ(DrawResizedCrop(1, 200, 1, &random), (Box{0, 99, 1, 1}));
}

TEST(AugmentationTest, ErasedBoxesHaveTheAreasAskedFor) {
  const Picture picture(60, 50, 3);
  int erased = 0;
  for (const Picture& each : Drawn({.erase = 0.5}, picture, 500)) {
    const int64_t pixels = std::ranges::count(each.pixels, 2);
    ASSERT_EQ(std::accumulate(each.pixels.begin(), each.pixels.end(), int64_t{0}), 6 * pixels);
    if (pixels == 0) continue;
    ++erased;
    EXPECT_GE(pixels, 0.018 * 3000);
    EXPECT_LE(pixels, 0.34 * 3000);
  }
  EXPECT_NEAR(erased, 250, 50);
  Random random({1});
  EXPECT_FALSE(DrawErasedBox(1, 10, &random).has_value());
}

TEST(AugmentationTest, RandAugmentDrawsEveryChangeBothWays) {
  const Picture picture = Noise(16, 12, 3, 3);
  std::vector<Picture> possible;
  std::vector<int> counts;
  for (int64_t c = 0; c < kPictureChanges; ++c) {
    const auto change = static_cast<PictureChange>(c);
    const double value = ChangeValue(change, 20, 16, 12);
    possible.push_back(Change(picture, change, value));
    if (IsSigned(change)) possible.push_back(Change(picture, change, -value));
  }
  EXPECT_EQ(possible.size(), 23u);
  counts.resize(possible.size());
  Random random({5});
  for (int i = 0; i < 2800; ++i) {
    const Picture changed = RandAugment(picture, 1, 20, &random);
    const auto at = std::ranges::find(possible, changed);
    ASSERT_NE(at, possible.end());
    ++counts[at - possible.begin()];
  }
  for (size_t i = 1; i < counts.size(); ++i) {
    const bool alone = i >= 19;  // 9 signed changes come before
    if (possible[i] == picture) continue;
    EXPECT_NEAR(counts[i], alone ? 200 : 100, 60) << i;
  }
}

TEST(MixingTest, BetaHasItsMeanAndVariance) {
  for (const auto& [alpha, beta] : {std::pair{0.2, 0.2}, {1.0, 1.0}, {0.8, 2.5}, {4.0, 1.5}}) {
    Random random({7});
    double sum = 0, squares = 0;
    constexpr int kDraws = 20000;
    for (int i = 0; i < kDraws; ++i) {
      const double draw = DrawBeta(alpha, beta, &random);
      ASSERT_TRUE(draw >= 0 && draw <= 1);
      sum += draw;
      squares += draw * draw;
    }
    const double mean = sum / kDraws, total = alpha + beta;
    EXPECT_NEAR(mean, alpha / total, 0.01);
    EXPECT_NEAR(squares / kDraws - mean * mean, alpha * beta / (total * total * (total + 1)),
                0.005);
  }
  Random random({8});
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(std::isnan(DrawBeta(0.001, 0.001, &random)));
}

TEST(MixingTest, SharesAreWhatIsSeen) {
  Random random({1});
  const Picture other = Noise(30, 20, 3, 4);
  int cuts = 0;
  for (int i = 0; i < 1000; ++i) {
    const Mixing mixing = DrawMixing({.mixup = 0.4, .cutmix = 1}, 30, 20, &random);
    if (!mixing.cuts()) continue;
    ++cuts;
    Picture picture(30, 20, 3);
    Paste(other, mixing.box, &picture);
    const auto own = std::ranges::count(picture.pixels, 0);
    EXPECT_NEAR(static_cast<double>(own) / 1800, mixing.own_share, 1e-9);
  }
  EXPECT_NEAR(cuts, 500, 80);
  EXPECT_EQ(DrawMixing({}, 30, 20, &random).own_share, 1);
  std::vector<float> own = {1, 2}, others = {3, 6};
  MixInto(others, 0.75, own);
  EXPECT_THAT(own, ElementsAre(1.5f, 3.0f));
}

}  // namespace
}  // namespace attend
