#include "data/picture_corpus.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "attend/error.h"
#include "media/patch_numbers.h"

namespace attend {
namespace {

// Grey pictures whose pixels all are the picture's number, but one that can't be read.
class NumberedPictures : public PictureSet {
 public:
  explicit NumberedPictures(int64_t count, int64_t damaged = -1)
      : PictureSet({"even", "odd"}), count_(count), damaged_(damaged) {}
  int64_t size() const override { return count_; }
  int64_t label(int64_t i) const override { return i % 2; }
  Picture Get(int64_t i) const override {
    if (i == damaged_) throw Error(ErrorKind::kInput, name(i) + " is damaged");
    Picture picture(4, 4, 1);
    std::ranges::fill(picture.pixels, static_cast<uint8_t>(i));
    return picture;
  }
  std::string name(int64_t i) const override { return "picture " + std::to_string(i); }

 private:
  int64_t count_, damaged_;
};

PictureCorpus MakeCorpus(int64_t count, const MixingOptions& mixing = {}, int64_t damaged = -1,
                         int64_t side = 4) {
  const auto pictures = std::make_shared<NumberedPictures>(count, damaged);
  ThreadPool pool(2);
  PictureCorpusOptions options;
  options.input = {.height = side, .width = side, .channels = 1, .patch = 2};
  options.mixing = mixing;
  return {pictures, SurveyPictures(*pictures, &pool), options};
}

int64_t NumberOf(const Example& example) { return example.origin().line; }

std::vector<int64_t> NumbersOf(WindowReader* reader, int64_t windows) {
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < windows; ++i) {
    const Window window = reader->Next().make();
    for (int64_t row = 0; row < window.examples->size(); ++row)
      numbers.push_back(NumberOf((*window.examples)[row]));
  }
  return numbers;
}

TEST(PictureCorpusTest, AnEpochHasEveryPictureOnceInItsOwnOrder) {
  const PictureCorpus corpus = MakeCorpus(200, {}, /*damaged=*/17);
  EXPECT_EQ(corpus.size(), 199);
  const auto reader = corpus.Open(0, {}, {});
  const std::vector<int64_t> first = NumbersOf(reader.get(), 1),
                             second = NumbersOf(reader.get(), 1);
  EXPECT_NE(first, second);
  for (std::vector<int64_t> epoch : {first, second}) {
    EXPECT_FALSE(std::ranges::is_sorted(epoch));
    std::ranges::sort(epoch);
    EXPECT_EQ(std::ranges::adjacent_find(epoch), epoch.end());
    EXPECT_EQ(epoch.size(), 199);
    EXPECT_THAT(epoch, testing::Not(testing::Contains(17)));
  }
  EXPECT_EQ(NumbersOf(corpus.Open(1, {}, {}).get(), 1), second);
}

// A window of large pictures has few of them, and a reader may begin at any.
TEST(PictureCorpusTest, WindowsAndTheirPartsAreTheEpoch) {
  const PictureCorpus corpus = MakeCorpus(150, {}, -1, /*side=*/512);
  ASSERT_EQ(corpus.window_size(), 64);
  const std::vector<int64_t> epoch = NumbersOf(corpus.Open(0, {}, {}).get(), 3);
  EXPECT_EQ(epoch.size(), 150);
  const auto later = corpus.Open(0, {.number = 1, .cursor = {}}, {});
  EXPECT_EQ(NumbersOf(later.get(), 2), std::vector(epoch.begin() + 64, epoch.end()));
  const auto work = later->Next();
  EXPECT_EQ(work.epoch, 1);
  EXPECT_EQ(work.start.number, 0);
  std::vector<int64_t> joined;
  for (const int64_t part : {0, 1, 2})
    std::ranges::copy(NumbersOf(corpus.Open(0, {}, {part, 3}).get(), 1),
                      std::back_inserter(joined));
  EXPECT_EQ(joined, std::vector(epoch.begin(), epoch.begin() + 64));
  EXPECT_THROW(corpus.Open(0, {.number = 3, .cursor = {}}, {}), Error);
}

TEST(PictureCorpusTest, NumbersAreThoseOfThePatches) {
  const PictureCorpus corpus = MakeCorpus(3);
  const ExampleTable table = corpus.Table(0, 3);
  ASSERT_EQ(table.size(), 3);
  EXPECT_EQ(table[1].Length(kPatchColumn), 4);
  for (const float number : table[2].Numbers(kPatchColumn))
    EXPECT_FLOAT_EQ(number, (2 / 255.0 - 0.5) / 0.5);
  EXPECT_THAT(table[1].Ids(kPictureLabelColumn), testing::ElementsAre(1));
  EXPECT_THAT(table[1].Numbers(kLabelWeightColumn), testing::ElementsAre(1));
}

// In a mixed picture the labels' shares are those of the pixels.
TEST(PictureCorpusTest, MixedPicturesHaveTwoLabels) {
  for (const MixingOptions& mixing : {MixingOptions{.mixup = 1}, MixingOptions{.cutmix = 1}}) {
    const PictureCorpus corpus = MakeCorpus(100, mixing);
    const Window window = corpus.Open(0, {}, {})->Next().make();
    bool mixed = false;
    for (int64_t row = 0; row < window.examples->size(); ++row) {
      const Example example = (*window.examples)[row];
      const auto shares = example.Numbers(kLabelWeightColumn);
      ASSERT_EQ(shares.size(), 2);
      EXPECT_FLOAT_EQ(shares[0] + shares[1], 1);
      EXPECT_EQ(example.Ids(kPictureLabelColumn)[0], NumberOf(example) % 2);
      // Its own pixels are all one number.
      const double own = (static_cast<double>(NumberOf(example)) / 255 - 0.5) / 0.5;
      const auto numbers = example.Numbers(kPatchColumn);
      const auto same = std::ranges::count_if(
          numbers, [&](float number) { return std::abs(number - own) < 1e-6; });
      if (mixing.cutmix > 0 && static_cast<size_t>(same) < numbers.size()) {
        EXPECT_NEAR(static_cast<double>(same) / 16, shares[0], 1e-6);
      }
      mixed |= shares[0] > 0.1 && shares[0] < 0.9;
    }
    EXPECT_TRUE(mixed);
  }
}

}  // namespace
}  // namespace attend
