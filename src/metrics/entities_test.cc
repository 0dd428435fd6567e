#include "metrics/entities.h"

#include <gtest/gtest.h>

#include <sstream>

#include "attend/error.h"

namespace attend {
namespace {

std::vector<std::string> Words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

TEST(Entities, AreRightAsAWholeAlone) {
  const EntityScores scores = ScoreEntities({Words("B-PER I-PER O B-LOC"), Words("B-LOC O")},
                                            {Words("B-PER O O B-LOC"), Words("B-LOC B-ORG")});
  EXPECT_EQ(scores.all.found, 3);
  EXPECT_EQ(scores.all.expected, 4);
  EXPECT_EQ(scores.all.right, 2);
  EXPECT_DOUBLE_EQ(scores.all.precision(), 200.0 / 3);
  EXPECT_DOUBLE_EQ(scores.all.recall(), 50);
  EXPECT_DOUBLE_EQ(scores.all.f1(), 400.0 / 7);
  EXPECT_DOUBLE_EQ(scores.by_type.at("LOC").f1(), 100);
  EXPECT_DOUBLE_EQ(scores.by_type.at("ORG").f1(), 0);
  EXPECT_DOUBLE_EQ(scores.accuracy(), 400.0 / 6);
}

TEST(Entities, NeedAsManyLabels) {
  EXPECT_THROW(ScoreEntities({Words("O")}, {}), Error);
  EXPECT_THROW(ScoreEntities({Words("O")}, {Words("O O")}), Error);
}

}  // namespace
}  // namespace attend
