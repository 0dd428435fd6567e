#include "base/edit_distance.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

TEST(EditDistanceTest, CountsEditsAndSwapsOfNeighbours) {
  EXPECT_EQ(EditDistance("", ""), 0);
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("abc", ""), 3);
  EXPECT_EQ(EditDistance("abc", "abc"), 0);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
  EXPECT_EQ(EditDistance("sitting", "kitten"), 3);
  EXPECT_EQ(EditDistance("layers", "layres"), 1);
  EXPECT_EQ(EditDistance("ab", "ba"), 1);
  EXPECT_EQ(EditDistance("ca", "abc"), 3);  // 2 where swapped letters may be edited again
}

TEST(EditDistanceTest, NearNamesAreMeant) {
  EXPECT_EQ(DidYouMean("layres", {"heads", "layers"}), "; did you mean 'layers'?");
  EXPECT_EQ(DidYouMean("layers", {"encoder.layers", "decoder.layers"}),
            "; did you mean 'encoder.layers' or 'decoder.layers'?");
  EXPECT_EQ(DidYouMean("--layers", {"encoder.layers"}), "; did you mean 'encoder.layers'?");
  EXPECT_EQ(DidYouMean("x", {"layers"}), "");
  EXPECT_EQ(DidYouMean("", {"layers."}), "");
}

// It took time and memory as the product of the lengths, and time for each candidate.
TEST(EditDistanceTest, LongNamesHaveNoSuggestion) {
  const std::string longest(200, 'a'), longer(201, 'a');
  EXPECT_EQ(NearestName(longest, {longest + "b"}), longest + "b");
  EXPECT_EQ(NearestName(longer, {longer + "b"}), "");
  EXPECT_EQ(DidYouMean(longest, {"x." + longest}), "; did you mean 'x." + longest + "'?");
  EXPECT_EQ(DidYouMean(longer, {"x." + longer}), "");
  const std::string hostile(1'000'000, 'a');
  EXPECT_EQ(DidYouMean(hostile, std::vector<std::string>(100, hostile + "b")), "");
}

}  // namespace
}  // namespace attend
