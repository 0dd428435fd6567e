#include "data/shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attend {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Examples of one column with the given lengths.
Batch BatchOf(const std::vector<size_t>& lengths) {
  Batch batch;
  for (const size_t length : lengths)
    batch.examples.push_back({{}, {std::vector<int32_t>(length)}});
  return batch;
}

double Length(const Example& example) { return static_cast<double>(example.columns[0].size()); }

TEST(ShardTest, PartsHaveAboutEqualWork) {
  const GlobalBatch batch{{BatchOf({8, 7, 5, 4, 3, 3, 2, 2, 2, 2, 1, 1})}};  // 40 in all
  const auto shards = CutIntoShards(batch, 2, Length);
  ASSERT_THAT(shards, ElementsAre(SizeIs(1), SizeIs(1)));
  EXPECT_THAT(shards[0][0].examples, SizeIs(3));
  EXPECT_THAT(shards[1][0].examples, SizeIs(9));
}

TEST(ShardTest, PlacesCountThroughTheBatchesOfAnUpdate) {
  const GlobalBatch batch{{BatchOf({3, 3}), BatchOf({5, 1, 4})}};
  const auto shards = CutIntoShards(batch, 2, Length);
  ASSERT_THAT(shards, ElementsAre(SizeIs(2), SizeIs(2)));
  const auto place = [](const Shard& shard) {
    return std::vector<int64_t>{shard.examples_before, shard.tokens_before.at(0)};
  };
  EXPECT_THAT(place(shards[0][0]), ElementsAre(0, 0));
  EXPECT_THAT(place(shards[1][0]), ElementsAre(1, 3));
  EXPECT_THAT(place(shards[0][1]), ElementsAre(2, 6));
  EXPECT_THAT(place(shards[1][1]), ElementsAre(3, 11));
  EXPECT_EQ(shards[0][1].examples.data(), batch.batches[1].examples.data());
}

TEST(ShardTest, FewerExamplesThanPartsLeaveSomePartsEmpty) {
  const GlobalBatch batch{{BatchOf({9}), BatchOf({2, 2})}};
  const auto shards = CutIntoShards(batch, 4, Length);
  EXPECT_THAT(shards, ElementsAre(IsEmpty(), SizeIs(1), SizeIs(1), SizeIs(1)));
  EXPECT_THAT(CutIntoShards(batch, 1, Length), ElementsAre(SizeIs(2)));
}

}  // namespace
}  // namespace attend
