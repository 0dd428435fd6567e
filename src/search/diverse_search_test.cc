#include "search/diverse_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "search/scores.h"
#include "search/search_batch.h"
#include "search/table_stepper_fixture.h"

namespace attend {
namespace {

constexpr double kPenalty = 0.6;

struct Plain {
  std::vector<int32_t> ids;
  double sum = 0;
};

double Score(const Plain& output, int64_t length) {
  return output.sum / LengthPenalty(length, kPenalty);
}

// The groups one after another in each step, as the article has it, without ends before the longest
// output but that of a full beam. Of each group what has ended, the best first.
std::vector<std::vector<Plain>> PlainDiverseSearch(uint64_t seed, int64_t groups, int64_t size,
                                                   double diversity, int64_t longest) {
  std::vector<std::vector<Plain>> live(groups, {Plain{}}), ended(groups);
  for (int64_t length = 1; length <= longest; ++length) {
    std::map<int32_t, int> taken;
    for (int64_t g = 0; g < groups; ++g) {
      std::vector<std::tuple<double, size_t, int32_t, Plain>> all;
      for (size_t beam = 0; beam < live[g].size(); ++beam) {
        const Plain& from = live[g][beam];
        const int32_t last = from.ids.empty() ? 2 : from.ids.back();
        const int32_t before = from.ids.empty()       ? -1 - 5
                               : from.ids.size() == 1 ? 2
                                                      : from.ids[from.ids.size() - 2];
        for (const Candidate& next : Next(seed, before, last)) {
          Plain longer = from;
          longer.ids.push_back(next.id);
          longer.sum += next.log_probability;
          const double cost = taken.contains(next.id) ? diversity * taken[next.id] : 0;
          all.emplace_back(cost - longer.sum, beam, next.id, longer);
        }
      }
      std::ranges::sort(all, {}, [](const auto& each) {
        return std::tuple(std::get<0>(each), std::get<1>(each), std::get<2>(each));
      });
      live[g].clear();
      for (size_t rank = 0; rank < all.size() && std::ssize(live[g]) < size; ++rank) {
        Plain& output = std::get<3>(all[rank]);
        if (output.ids.back() != kEos) {
          live[g].push_back(output);
        } else if (static_cast<int64_t>(rank) < size) {
          output.ids.pop_back();
          const double score = Score(output, length);
          const auto place = std::ranges::find_if(ended[g], [&](const Plain& other) {
            return Score(other, std::ssize(other.ids) + 1) < score;
          });
          ended[g].insert(place, output);
        }
      }
      if (std::ssize(ended[g]) >= size || length == longest) live[g].clear();
      for (const Plain& output : live[g]) ++taken[output.ids.back()];
    }
  }
  return ended;
}

SearchInput InputOf(int64_t groups, int64_t size, double diversity) {
  return {.source = {5},
          .max_length = 12,
          .options = {.beam_size = groups * size,
                      .n_best = groups,
                      .length_penalty = kPenalty,
                      .groups = groups,
                      .diversity = diversity,
                      .early_stop = false}};
}

TEST(DiverseSearchTest, FindsWhatThePlainOneFinds) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    for (const auto& [groups, size] : {std::pair<int64_t, int64_t>{2, 2}, {4, 1}, {3, 2}}) {
      for (const double diversity : {0.0, 0.4, 3.0}) {
        const SearchInput input = InputOf(groups, size, diversity);
        TableStepper stepper(seed);
        const auto found = SearchAll({&input, 1}, {.max_beam_size = 8}, &stepper)[0];
        const auto plain = PlainDiverseSearch(seed, groups, size, diversity, 12);
        ASSERT_EQ(std::ssize(found), groups);
        for (int64_t g = 0; g < groups; ++g) {
          if (plain[g].empty()) {
            EXPECT_FALSE(found[g].finished);
            continue;
          }
          EXPECT_EQ(found[g].ids, plain[g][0].ids) << seed << ' ' << g << ' ' << diversity;
          EXPECT_NEAR(found[g].log_probability, plain[g][0].sum, 1e-12);
        }
      }
    }
  }
}

TEST(DiverseSearchTest, TheFirstGroupIsAPlainBeamAndTheOthersDiffer) {
  size_t without = 0, with = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const SearchInput alone{
        .source = {5}, .max_length = 12, .options = {.beam_size = 2, .early_stop = false}};
    TableStepper one(seed);
    const auto best = SearchAll({&alone, 1}, {}, &one)[0][0];
    for (const double diversity : {0.0, 4.0}) {
      const SearchInput input = InputOf(4, 2, diversity);
      TableStepper stepper(seed);
      const auto found = SearchAll({&input, 1}, {.max_beam_size = 8}, &stepper)[0];
      EXPECT_EQ(found[0].ids, best.ids);
      std::set<std::vector<int32_t>> different;
      for (const SearchResult& result : found) different.insert(result.ids);
      (diversity > 0 ? with : without) += different.size();
    }
  }
  EXPECT_EQ(without, 40u);  // all groups do the same
  EXPECT_GT(with, 60u);
}

// Groups that end at different steps, beside inputs with plain beams.
TEST(DiverseSearchTest, ResultsDoNotDependOnTheRoom) {
  std::vector<SearchInput> inputs;
  for (int i = 0; i < 24; ++i) {
    inputs.push_back(InputOf(1 + i % 4, 1 + i % 2, 0.5));
    inputs.back().source = {3 + i % 3};
    inputs.back().options.early_stop = true;
    if (i % 5 == 0) inputs.back().prefix = {4, 5};
  }
  const auto text_of = [](std::span<const int32_t> ids) {
    return std::string(ids.begin(), ids.end());
  };
  const SearchOptions options{.max_beam_size = 8, .text_of = text_of};
  for (const int64_t sentences : {2, 5, 64}) {
    TableStepper stepper(3);
    const auto found = SearchAll(inputs, options, &stepper, {.sentences = sentences});
    for (size_t i = 0; i < inputs.size(); ++i) {
      TableStepper alone(3);
      const auto want = SearchAll({&inputs[i], 1}, options, &alone)[0];
      ASSERT_EQ(found[i].size(), want.size());
      for (size_t n = 0; n < want.size(); ++n) {
        EXPECT_EQ(found[i][n].ids, want[n].ids);
        EXPECT_EQ(found[i][n].score, want[n].score);
        for (size_t m = 0; m < n; ++m) EXPECT_NE(found[i][n].ids, found[i][m].ids);
      }
    }
  }
}

}  // namespace
}  // namespace attend
