#include "metrics/retrieval.h"

#include <gmock/gmock.h>

namespace attend {
namespace {

using testing::ElementsAre;

// By hand: products of the queries (rows) with the keys are {1, 0, 2}, {1, 1, 2}, {0, 3, 0}.
TEST(RetrievalTest, AMatchComesAfterLargerProductsAndEarlierEqualOnes) {
  const std::vector<float> queries = {1, 0, 1, 1, 0, 3}, keys = {1, 0, 0, 1, 2, 0};
  const std::vector<int64_t> places = PlacesOfMatches(queries, keys, 2);
  EXPECT_THAT(places, ElementsAre(1, 2, 2));
  EXPECT_DOUBLE_EQ(RecallAt(places, 1), 0);
  EXPECT_DOUBLE_EQ(RecallAt(places, 2), 100.0 / 3);
  EXPECT_DOUBLE_EQ(RecallAt(places, 3), 100);
}

// What finds nothing gets no more than chance.
TEST(RetrievalTest, EqualVectorsFindTheFirst) {
  const std::vector<float> same(40, 0.5f);
  EXPECT_DOUBLE_EQ(RecallAt(PlacesOfMatches(same, same, 2), 1), 5);
}

}  // namespace
}  // namespace attend
