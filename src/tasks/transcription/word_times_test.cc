#include "tasks/transcription/word_times.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <limits>

#include "base/random.h"

namespace attend {
namespace {

using Path = std::vector<std::pair<int64_t, int64_t>>;

// Every path, one after another; `whole` as WarpRows has it.
void ForEachPath(int64_t rows, int64_t columns, bool whole, Path* path,
                 const std::function<void(const Path&)>& see) {
  const auto [t, s] = path->back();
  if (t == rows - 1 && (s == columns - 1 || !whole)) see(*path);
  const bool enough = columns - path->front().second >= rows;
  for (const auto& [down, right] : {std::pair{1, 1}, {0, 1}, {1, 0}}) {
    if (t + down >= rows || s + right >= columns || (right == 0 && enough)) continue;
    path->emplace_back(t + down, s + right);
    ForEachPath(rows, columns, whole, path, see);
    path->pop_back();
  }
}

void ExpectTheBestPath(bool whole) {
  Random random({5});
  for (int64_t rows = 1; rows <= 5; ++rows) {
    for (int64_t columns = 1; columns <= 6; ++columns) {
      std::vector<float> weights(rows * columns);
      for (float& weight : weights) weight = static_cast<float>(random.Normal());
      const int64_t begin = rows % std::min<int64_t>(columns, 3);
      double best = -std::numeric_limits<double>::infinity();
      std::vector<int64_t> first;
      Path path = {{0, begin}};
      ForEachPath(rows, columns, whole, &path, [&](const Path& taken) {
        double sum = 0;
        std::vector<int64_t> begins(rows + 1, columns);
        begins[rows] = taken.back().second + 1;
        for (const auto& [t, s] : taken) {
          sum += weights[t * columns + s];
          begins[t] = std::min(begins[t], s);
        }
        if (sum <= best) return;
        best = sum;
        first = begins;
      });
      EXPECT_EQ(WarpRows(rows, weights, begin, whole), first) << rows << " x " << columns;
    }
  }
}

TEST(WarpRowsTest, IsTheBestOfAllPaths) { ExpectTheBestPath(/*whole=*/true); }

TEST(WarpRowsTest, APathMayEndBeforeTheColumnsDo) { ExpectTheBestPath(/*whole=*/false); }

TEST(WarpRowsTest, TiesHaveAnOrder) {
  EXPECT_THAT(WarpRows(2, std::vector<float>(6), 0, true), testing::ElementsAre(0, 2, 3));
  EXPECT_THAT(WarpRows(2, std::vector<float>(6), 0, false), testing::ElementsAre(0, 1, 2));
}

TEST(StandardiseColumnsTest, GivesEachColumnMeanNothingAndDeviationOne) {
  std::vector<float> weights = {1, 5, 3, 5, 5, 5};  // [3, 2]
  StandardiseColumns(3, weights);
  const auto root = static_cast<float>(std::sqrt(1.5));
  const std::vector<float> expected = {-root, 0, 0, 0, root, 0};
  EXPECT_THAT(weights, testing::Pointwise(testing::FloatNear(1e-6), expected));
}

TEST(TimeWordsTest, AWordLastsFromItsFirstTokenToTheNextWord) {
  const std::vector<int64_t> words = {0, 0, 1, 1, 3}, first = {0, 2, 4, 5, 8, 20};
  const auto found = TimeWords("one two  three four", words, first, 0.5, 9);
  ASSERT_EQ(found.size(), 4);
  EXPECT_EQ(found[0], (TimedWord{"one", 0, 2}));
  EXPECT_EQ(found[1], (TimedWord{"two", 2, 4}));
  EXPECT_EQ(found[2], (TimedWord{"three", 4, 4}));  // which no token begins
  EXPECT_EQ(found[3], (TimedWord{"four", 4, 9}));   // not after the end
  EXPECT_TRUE(TimeWords("", {}, std::vector<int64_t>{0}, 0.5, 9).empty());
}

}  // namespace
}  // namespace attend
