// Several models as one search sees them.
#include "engine/ensemble_stepper.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "kernels/inference/dispatch.h"
#include "search/search_batch.h"
#include "search/table_stepper_fixture.h"

namespace attend {
namespace {

constexpr uint64_t kSecond = 1000;  // what the second table's seeds are further on

std::unique_ptr<EnsembleStepper> TwoTables(uint64_t seed, double first_weight) {
  std::vector<EnsembleMember> members;
  members.push_back({std::make_unique<TableStepper>(seed), first_weight});
  members.push_back({std::make_unique<TableStepper>(seed + kSecond), 1 - first_weight});
  return std::make_unique<EnsembleStepper>(std::move(members), SelectKernels(""), SpecialIds{});
}

// All outputs of a source that begins with 5, the best by mean log-probability first.
std::vector<SearchResult> AllByMean(uint64_t seed, double first_weight, int64_t longest) {
  std::vector<SearchResult> all;
  const std::function<void(const std::vector<int32_t>&, double)> visit = [&](const auto& ids,
                                                                             double sum) {
    const int32_t last = ids.empty() ? 2 : ids.back();
    const int32_t before = ids.empty() ? -1 - 5 : ids.size() == 1 ? 2 : ids[ids.size() - 2];
    const auto first = Next(seed, before, last), second = Next(seed + kSecond, before, last);
    for (size_t i = 0; i < first.size(); ++i) {
      const double total = sum + first_weight * first[i].log_probability +
                           (1 - first_weight) * second[i].log_probability;
      if (first[i].id == kEos) {
        const double length = static_cast<double>(ids.size()) + 1;
        all.push_back({ids, total / std::pow((5 + length) / 6, 0.6), total, true});
      } else if (std::ssize(ids) + 1 < longest) {
        auto longer = ids;
        longer.push_back(first[i].id);
        visit(longer, total);
      }
    }
  };
  visit({}, 0);
  std::ranges::sort(all, [](auto& a, auto& b) { return a.score > b.score; });
  return all;
}

TEST(EnsembleStepperTest, AWideBeamFindsWhatExhaustiveSearchByTheMeanFinds) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    for (const double weight : {0.5, 0.8}) {
      const auto all = AllByMean(seed, weight, 4);
      const SearchInput input{{5}, {}, {}, 4, {.beam_size = 200, .n_best = 5}};
      const auto stepper = TwoTables(seed, weight);
      const auto found = SearchAll({&input, 1}, {.max_beam_size = 200}, stepper.get())[0];
      ASSERT_EQ(found.size(), 5u);
      for (size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(found[i].ids, all[i].ids) << seed;
        EXPECT_NEAR(found[i].log_probability, all[i].log_probability, 1e-5);
      }
    }
  }
}

// More rows ask than have whole logits at once.
TEST(EnsembleStepperTest, ResultsDoNotDependOnTheRoom) {
  std::vector<SearchInput> inputs;
  for (int32_t i = 3; i < 33; ++i)
    inputs.push_back({{i}, {}, {}, 9, {.beam_size = 4, .n_best = 2}});
  const auto stepper = TwoTables(3, 0.7);
  const auto together = SearchAll(inputs, {.max_beam_size = 4}, stepper.get());
  for (const int64_t sentences : {1, 7}) {
    const auto few =
        SearchAll(inputs, {.max_beam_size = 4}, stepper.get(), {.sentences = sentences});
    for (size_t i = 0; i < inputs.size(); ++i) {
      ASSERT_EQ(few[i].size(), together[i].size());
      for (size_t n = 0; n < few[i].size(); ++n) {
        EXPECT_EQ(few[i][n].ids, together[i][n].ids);
        EXPECT_EQ(few[i][n].log_probability, together[i][n].log_probability);
      }
    }
  }
}

TEST(EnsembleStepperTest, AttentionIsTheMeanOfTheModels) {
  const auto stepper = TwoTables(4, 0.25);
  stepper->Reset(1);
  const std::vector<int32_t> source = {5, 6, 3};
  const NewSentence sentence{.index = 0, .source = source, .once = {}};
  stepper->Start({&sentence, 1});
  std::vector<float> attention(3);
  StepRow row;
  row.token = 2;
  row.attention = attention;
  std::vector<Candidate> best(2);
  stepper->Step({&row, 1}, 2, best.data());
  for (size_t s = 0; s < 3; ++s) {
    EXPECT_NEAR(attention[s], 0.25 * Looks(4, 2, s, 3) + 0.75 * Looks(4 + kSecond, 2, s, 3), 1e-6);
  }
}

}  // namespace
}  // namespace attend
