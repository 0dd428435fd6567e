#include "data/masking.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>

#include "attend/error.h"
#include "text/mask_token.h"
#include "text/vocabulary_trainer.h"

namespace attend {
namespace {

std::shared_ptr<const Vocabulary> Train(bool mask) {
  VocabularyOptions options;
  options.type = VocabularyType::kBpe;
  options.size = 45;
  options.mask = mask;
  const std::vector<std::string> lines = {"the old houses stand beside the river",
                                          "an older house stands there", "rivers and houses"};
  size_t next = 0;
  const auto take = [&](std::string* line) {
    if (next == lines.size()) return false;
    *line = lines[next++];
    return true;
  };
  return Vocabulary::FromBytes(TrainVocabulary(take, options, 1, NoLog()), "test");
}

class MaskingTest : public testing::Test {
 protected:
  std::shared_ptr<const Vocabulary> vocabulary_ = Train(true);
  const int32_t mask_ = MaskId(*vocabulary_);
  // A long text with bos, eos and something unknown.
  std::vector<int32_t> Ids() const {
    std::vector<int32_t> ids = {2};
    for (int i = 0; i < 40; ++i) {
      const std::vector<int32_t> more = vocabulary_->Encode("the old houses stand Z beside rivers");
      ids.insert(ids.end(), more.begin(), more.end());
    }
    ids.push_back(3);
    return ids;
  }
};

TEST_F(MaskingTest, HidesTheSharesOfBert) {
  const Masking masking({}, *vocabulary_);
  const std::vector<int32_t> ids = Ids();
  int64_t candidates = 0, chosen = 0, hidden = 0, same = 0;
  for (const int32_t id : ids) candidates += id != 1 && id != 2 && id != 3 ? 1 : 0;
  constexpr int kDraws = 500;
  std::map<int64_t, int64_t> by_place;
  for (uint64_t key = 0; key < kDraws; ++key) {
    const MaskedTokens masked = masking.Mask(ids, key);
    ASSERT_EQ(masked.ids.size(), ids.size());
    std::vector<int32_t> restored = masked.ids;
    for (const int64_t place : masked.chosen) {
      EXPECT_GT(ids[place], 3);
      ++by_place[place];
      hidden += masked.ids[place] == mask_ ? 1 : 0;
      same += masked.ids[place] == ids[place] ? 1 : 0;
      restored[place] = ids[place];
    }
    EXPECT_EQ(restored, ids);
    chosen += std::ssize(masked.chosen);
    EXPECT_EQ(std::ssize(masked.chosen), std::llround(0.15 * static_cast<double>(candidates)));
  }
  const auto total = static_cast<double>(chosen);
  EXPECT_NEAR(static_cast<double>(hidden) / total, 0.8, 0.01);
  EXPECT_NEAR(static_cast<double>(same) / total, 0.1, 0.01);  // a random one may be the same
  EXPECT_EQ(std::ssize(by_place), candidates);                // any token may be chosen
}

TEST_F(MaskingTest, TheKeyAloneDecides) {
  const Masking masking({}, *vocabulary_);
  EXPECT_EQ(masking.Mask(Ids(), 7).ids, masking.Mask(Ids(), 7).ids);
  EXPECT_NE(masking.Mask(Ids(), 7).chosen, masking.Mask(Ids(), 8).chosen);
}

TEST_F(MaskingTest, HidesWholeWords) {
  const Masking masking({.mask_hidden = 1, .mask_random = 0, .mask_whole_words = true},
                        *vocabulary_);
  const std::vector<int32_t> ids = Ids();
  for (uint64_t key = 0; key < 50; ++key) {
    const MaskedTokens masked = masking.Mask(ids, key);
    for (size_t i = 1; i + 1 < ids.size(); ++i) {
      const bool goes_on =
          ids[i] > 3 && ids[i - 1] > 3 && !vocabulary_->Piece(ids[i]).starts_with("\u2581");
      if (goes_on) {
        EXPECT_EQ(masked.ids[i] == mask_, masked.ids[i - 1] == mask_) << i;
      }
    }
    EXPECT_LE(std::ssize(masked.chosen), std::ssize(ids) * 15 / 100 + 1);
  }
}

TEST_F(MaskingTest, ChoosesAtLeastOneToken) {
  const Masking masking({}, *vocabulary_);
  const std::vector<int32_t> one = {2, vocabulary_->Encode("the")[0], 3};
  EXPECT_THAT(masking.Mask(one, 1).chosen, testing::ElementsAre(1));
  EXPECT_TRUE(masking.Mask(std::vector<int32_t>{2, 3}, 1).chosen.empty());
}

TEST_F(MaskingTest, RefusesWhatItCannotDo) {
  EXPECT_THROW(Masking({}, *Train(false)), Error);
  EXPECT_THROW(Masking({.mask_hidden = 0.9, .mask_random = 0.2}, *vocabulary_), Error);
}

}  // namespace
}  // namespace attend
