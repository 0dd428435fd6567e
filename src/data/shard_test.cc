#include "data/shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/example_fixture.h"

namespace attend {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Examples of one column with the given lengths.
Batch Lengths(const std::vector<size_t>& lengths) {
  std::vector<IdColumns> examples;
  for (const size_t length : lengths) examples.push_back({std::vector<int32_t>(length)});
  return BatchOf(examples);
}

double Length(const Example& example) { return static_cast<double>(example.Length(0)); }

TEST(ShardTest, PartsHaveAboutEqualWork) {
  const GlobalBatch batch{{Lengths({8, 7, 5, 4, 3, 3, 2, 2, 2, 2, 1, 1})}};  // 40 in all
  const auto shards = CutIntoShards(batch, {.threads = 2}, Length);
  ASSERT_THAT(shards, ElementsAre(SizeIs(1), SizeIs(1)));
  EXPECT_THAT(shards[0][0].examples, SizeIs(3));
  EXPECT_THAT(shards[1][0].examples, SizeIs(9));
}

TEST(ShardTest, PositionsCountThroughTheBatchesOfAnUpdate) {
  const GlobalBatch batch{{Lengths({3, 3}), Lengths({5, 1, 4})}};
  const auto shards = CutIntoShards(batch, {.threads = 2}, Length);
  ASSERT_THAT(shards, ElementsAre(SizeIs(2), SizeIs(2)));
  const auto position = [](const Shard& shard) {
    return std::vector<int64_t>{shard.examples_before, shard.tokens_before.at(0)};
  };
  EXPECT_THAT(position(shards[0][0]), ElementsAre(0, 0));
  EXPECT_THAT(position(shards[1][0]), ElementsAre(1, 3));
  EXPECT_THAT(position(shards[0][1]), ElementsAre(2, 6));
  EXPECT_THAT(position(shards[1][1]), ElementsAre(3, 11));
  EXPECT_EQ(shards[0][1].examples[0].Ids(0).data(), batch.batches[1].examples()[0].Ids(0).data());
}

// Lengths of the examples of each part's shards.
std::vector<std::vector<std::vector<int64_t>>> LengthsOf(
    const std::vector<std::vector<Shard>>& shards) {
  std::vector<std::vector<std::vector<int64_t>>> lengths(shards.size());
  for (size_t part = 0; part < shards.size(); ++part) {
    for (const Shard& shard : shards[part]) {
      std::vector<int64_t>& each = lengths[part].emplace_back();
      for (const Example example : shard.examples) each.push_back(example.Length(0));
    }
  }
  return lengths;
}

TEST(ShardTest, RanksHaveWholeBatchesOfAboutEqualWork) {
  const GlobalBatch batch{{Lengths({5, 4}), Lengths({7, 1}), Lengths({3, 3}), Lengths({2, 2})}};
  const auto shards = CutIntoShards(batch, {.ranks = 2}, Length);
  using Row = std::vector<int64_t>;
  EXPECT_THAT(LengthsOf(shards),
              ElementsAre(ElementsAre(Row{5, 4}, Row{2, 2}), ElementsAre(Row{7, 1}, Row{3, 3})));
  EXPECT_EQ(shards[1][1].examples_before, 4);
  EXPECT_EQ(shards[1][1].tokens_before[0], 17);
}

TEST(ShardTest, BatchesThatAreLeftAreCutOverAllRanks) {
  const GlobalBatch batch{{Lengths({4, 4}), Lengths({3, 3}), Lengths({2, 2, 2, 2})}};
  using Row = std::vector<int64_t>;
  EXPECT_THAT(LengthsOf(CutIntoShards(batch, {.ranks = 2, .threads = 2}, Length)),
              ElementsAre(ElementsAre(Row{4}, Row{2}), ElementsAre(Row{4}, Row{2}),
                          ElementsAre(Row{3}, Row{2}), ElementsAre(Row{3}, Row{2})));
}

TEST(ShardTest, NoRankHasMoreBatchesThanAnother) {
  const GlobalBatch batch{{Lengths({9, 9}), Lengths({1}), Lengths({1}), Lengths({1})}};
  EXPECT_THAT(CutIntoShards(batch, {.ranks = 2}, Length), ElementsAre(SizeIs(2), SizeIs(2)));
}

TEST(ShardTest, FewerExamplesThanPartsLeaveSomePartsEmpty) {
  const GlobalBatch batch{{Lengths({9}), Lengths({2, 2})}};
  const auto shards = CutIntoShards(batch, {.threads = 4}, Length);
  EXPECT_THAT(shards, ElementsAre(IsEmpty(), SizeIs(1), SizeIs(1), SizeIs(1)));
  EXPECT_THAT(CutIntoShards(batch, {.threads = 1}, Length), ElementsAre(SizeIs(2)));
}

}  // namespace
}  // namespace attend
