// The tree of cached rows: what hypotheses share stays where it is, what none needs is used again.
#include "engine/stacks/decoder_cache.h"

#include <gtest/gtest.h>

#include <array>

namespace attend {
namespace {

TEST(RowCacheTest, ARowLivesAsLongAsItIsHeldOrFollowed) {
  RowCache cache;
  cache.Reset(3);
  const int32_t root = cache.Append(-1);
  cache.Hold(root);  // two hypotheses go on from it
  const int32_t left = cache.Append(root), right = cache.Append(root);
  EXPECT_EQ(cache.rows_in_use(), 3);
  cache.Release(left);
  EXPECT_EQ(cache.rows_in_use(), 2);
  EXPECT_EQ(cache.Append(right), left);  // the freed row is used again
  cache.Release(left);
  EXPECT_EQ(cache.rows_in_use(), 0);  // with the last row, all that it followed
}

TEST(RowCacheTest, RowsStayWhereTheyAre) {
  RowCache cache;
  cache.Reset(5);
  const int32_t first = cache.Append(-1);
  float* const place = cache.Row(first);
  place[0] = 1, place[4] = 2;
  int32_t last = first;
  for (int i = 0; i < 1000; ++i) {
    last = cache.Append(last);
    cache.Row(last)[0] = cache.Row(last)[4] = -1;
  }
  EXPECT_EQ(cache.Row(first), place);
  EXPECT_EQ(place[0], 1);
  EXPECT_EQ(place[4], 2);
  cache.Reset(5);
  EXPECT_EQ(cache.rows_in_use(), 0);
}

class DecoderCacheTest : public testing::Test {
 protected:
  static constexpr int64_t kBeam = 3;

  DecoderCacheTest() {
    cache_.Reset(kBeam, 4, 4);
    for (const int64_t sentence : {0, 1}) cache_.Renew(sentence, 0);
  }

  // What the decoder does in a step: a row more for a hypothesis.
  void Step(int64_t h) { cache_.Append(&cache_.own_rows, &cache_.hypotheses[h]); }
  const std::vector<const float*>& Rows(int64_t h) const { return cache_.hypotheses[h].rows; }

  DecoderCache cache_;
};

TEST_F(DecoderCacheTest, ASourcesRowsAreFreedWhenItLeaves) {
  cache_.new_rows.clear();
  cache_.Renew(0, 3), cache_.Renew(1, 2);
  EXPECT_EQ(cache_.new_rows.size(), 5);
  EXPECT_EQ(cache_.sources[1].rows.size(), 2);
  EXPECT_EQ(cache_.sources[1].rows[0], cache_.new_rows[3]);
  Step(0);
  cache_.Reorder(0, {});
  EXPECT_EQ(cache_.source_rows.rows_in_use(), 2);
  EXPECT_EQ(cache_.own_rows.rows_in_use(), 0);
  cache_.Renew(1, 4);
  EXPECT_EQ(cache_.source_rows.rows_in_use(), 4);
}

TEST_F(DecoderCacheTest, HypothesesOfOneParentShareItsRows) {
  const int64_t sentence = 1, first = sentence * kBeam;  // the second sentence's
  Step(first);
  cache_.Reorder(sentence, std::array<int32_t, 3>{0, 0, 0});
  for (int64_t i = 0; i < kBeam; ++i) Step(first + i);
  EXPECT_EQ(cache_.own_rows.rows_in_use(), 4);
  for (int64_t i = 1; i < kBeam; ++i) {
    EXPECT_EQ(Rows(first + i)[0], Rows(first)[0]);
    EXPECT_NE(Rows(first + i)[1], Rows(first)[1]);
  }
}

TEST_F(DecoderCacheTest, ReorderingMovesHypothesesAndFreesTheLost) {
  Step(0);
  cache_.Reorder(0, std::array<int32_t, 3>{0, 0, 0});
  for (int64_t i = 0; i < kBeam; ++i) Step(i);
  const auto before = std::array{Rows(0), Rows(1), Rows(2)};
  cache_.Reorder(0, std::array<int32_t, 3>{2, 0, 2});
  EXPECT_EQ(Rows(0), before[2]);
  EXPECT_EQ(Rows(1), before[0]);
  EXPECT_EQ(Rows(2), before[2]);
  EXPECT_EQ(cache_.own_rows.rows_in_use(), 3);  // the root, and the two that go on
  cache_.Reorder(0, std::array<int32_t, 1>{1});
  EXPECT_EQ(Rows(0), before[0]);
  EXPECT_TRUE(Rows(1).empty() && Rows(2).empty());
  EXPECT_EQ(cache_.own_rows.rows_in_use(), 2);
  cache_.Reorder(0, {});
  EXPECT_EQ(cache_.own_rows.rows_in_use(), 0);
}

}  // namespace
}  // namespace attend
