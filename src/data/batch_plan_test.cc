#include "data/batch_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "base/random.h"
#include "data/example_fixture.h"
#include "data/parallel_corpus.h"
#include "text/vocabulary_trainer.h"

namespace attend {
namespace {

TEST(BatchesByLength, CoversAllAndSorts) {
  Random random{7};
  ExampleTable table = IdTable(2);
  for (int64_t i = 0; i < 300; ++i) {
    const std::vector<int32_t> first(1 + random.Below(30)), second(1 + random.Below(30));
    AddExample({0, i}, {first, second}, &table);
  }
  BatchLimits limits;
  limits.tokens = 120;
  std::vector<int64_t> order;
  for (const auto& batch : BatchesByLength(table, limits))
    order.insert(order.end(), batch.begin(), batch.end());
  const auto cost = [&](int64_t index) {
    return std::max(table[index].Length(0), table[index].Length(1));
  };
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end(),
                             [&](int64_t a, int64_t b) { return cost(a) > cost(b); }));
  std::sort(order.begin(), order.end());
  std::vector<int64_t> all(300);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(order, all);
}

// Every third example lacks one column, and the next third the other.
TEST(ShuffledBatches, SequencesAreBoundedByTheirSumsAndMixed) {
  ExampleTable table({{ColumnKind::kIds}, {ColumnKind::kIds}}, ReadAs::kSequence);
  for (int64_t i = 0; i < 300; ++i) {
    const std::vector<int32_t> first(i % 3 == 0 ? 0 : 10), second(i % 3 == 1 ? 0 : 6);
    AddExample({0, i}, {first, second}, &table);
  }
  const BatchLimits limits{.tokens = 100, .sentences = 0};
  std::vector<int64_t> seen;
  int64_t full = 0;
  for (const auto& batch : ShuffledBatches(table, limits, 1, 0, 0)) {
    int64_t sums[2] = {0, 0};
    for (const int64_t row : batch)
      for (int64_t column = 0; column < 2; ++column) sums[column] += table[row].Length(column);
    EXPECT_LE(sums[0] + sums[1], limits.tokens);
    full += sums[0] + sums[1] > limits.tokens - 16;
    EXPECT_TRUE(batch.size() < 6 || (sums[0] > 0 && sums[1] > 0));
    seen.insert(seen.end(), batch.begin(), batch.end());
  }
  EXPECT_GE(full, 30);
  std::ranges::sort(seen);
  for (int64_t i = 0; i < 300; ++i) EXPECT_EQ(seen[i], i);
}

// Share of padding in batches: positions that hold no token, over all columns.
double PaddingShare(const ExampleTable& table, const BatchPlan& batches) {
  int64_t tokens = 0, positions = 0;
  for (const std::vector<int64_t>& batch : batches) {
    for (int64_t column = 0; column < table.columns(); ++column) {
      int64_t longest = 0;
      for (const int64_t index : batch) {
        tokens += table[index].Length(column);
        longest = std::max(longest, table[index].Length(column));
      }
      positions += longest * std::ssize(batch);
    }
  }
  return positions == 0 ? 0 : 1 - static_cast<double>(tokens) / static_cast<double>(positions);
}

TEST(ShuffledBatches, WasteLittleOnRealText) {
  const char* data = std::getenv("ATTEND_DATA");
  if (data == nullptr) GTEST_SKIP() << "ATTEND_DATA is not set";
  const std::string folder = std::string(data) + "/multi30k/train.";
  VocabularyOptions vocabulary_options;
  vocabulary_options.size = 6000;
  vocabulary_options.type = VocabularyType::kBpe;
  vocabulary_options.letter_case = LetterCase::kLower;
  const auto vocabulary =
      Vocabulary::FromBytes(TrainVocabulary(std::vector<std::string>{folder + "en", folder + "de"},
                                            vocabulary_options, 1, NoLog()),
                            "test");
  const ParallelCorpus corpus(
      {SourceColumn({folder + "en"}, vocabulary), TargetColumn({folder + "de"}, vocabulary)}, {},
      2);
  for (const int64_t batch_tokens : {2048, 4096}) {
    BatchLimits limits;
    limits.tokens = batch_tokens;
    const BatchPlan batches = ShuffledBatches(corpus.examples(), limits, 1, 3, 0);
    const double waste = PaddingShare(corpus.examples(), batches);
    std::printf("batch_tokens %ld: %zu batches, %.2f %% padding; %s\n",
                static_cast<long>(batch_tokens), batches.size(), 100 * waste,
                corpus.report().Text().c_str());
    EXPECT_LT(waste, 0.06);
  }
}

}  // namespace
}  // namespace attend
