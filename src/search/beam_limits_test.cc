// Coverage, a beam's threshold and its early exit against exhaustive search.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "search/beam_search.h"
#include "search/search_batch.h"
#include "search/table_stepper_fixture.h"

namespace attend {
namespace {

constexpr int64_t kLongest = 4;  // tokens of an output, eos included
const std::vector<int32_t> kSource = {5, 6, 4, 3};

struct PlainOutput {
  std::vector<int32_t> ids;
  double log_probability = 0, score = 0;
};

// What may follow an output of kSource.
std::vector<Candidate> NextAfter(uint64_t seed, const std::vector<int32_t>& ids) {
  const int32_t last = ids.empty() ? 2 : ids.back();
  const int32_t before = ids.empty() ? -1 - kSource[0] : ids.size() == 1 ? 2 : ids[ids.size() - 2];
  return Next(seed, before, last);
}

// beta * sum of log min(1, attention) over the source, without its first and last id.
double PlainCoverage(uint64_t seed, const std::vector<int32_t>& ids, double beta) {
  double sum = 0;
  for (size_t s = 1; s + 1 < kSource.size(); ++s) {
    double covered = Looks(seed, 2, s, kSource.size());
    for (const int32_t id : ids) covered += Looks(seed, id, s, kSource.size());
    sum += std::log(std::min(1.0, covered));
  }
  return beta * sum;
}

// All finished outputs, whose prefixes stay within the threshold of the best of their step; the
// best by score first. Hypotheses of a step are at hand together, as in a beam without bounds.
std::vector<PlainOutput> PlainSearch(uint64_t seed, double threshold, double beta,
                                     const std::vector<int32_t>& prefix = {}) {
  std::vector<PlainOutput> finished, live = {{}};
  for (int64_t length = 1; length <= kLongest; ++length) {
    std::vector<PlainOutput> longer;
    for (const PlainOutput& one : live) {
      for (const Candidate& next : NextAfter(seed, one.ids)) {
        const size_t place = one.ids.size();
        if (place < prefix.size() && next.id != prefix[place]) continue;
        longer.push_back({one.ids, one.log_probability + next.log_probability});
        longer.back().ids.push_back(next.id);
      }
    }
    const auto best = std::ranges::max_element(longer, {}, &PlainOutput::log_probability);
    const double least = threshold > 0 ? best->log_probability - threshold : -1e30;
    live.clear();
    for (PlainOutput& one : longer) {
      if (one.log_probability < least) continue;
      if (one.ids.back() != kEos) {
        live.push_back(std::move(one));
        continue;
      }
      one.ids.pop_back();
      one.score = one.log_probability / std::pow((5.0 + static_cast<double>(length)) / 6, 0.6) +
                  PlainCoverage(seed, one.ids, beta);
      finished.push_back(std::move(one));
    }
    if (live.empty()) break;
  }
  std::ranges::sort(finished, std::greater(), &PlainOutput::score);
  return finished;
}

std::vector<SearchResult> SearchOf(uint64_t seed, const SentenceOptions& options,
                                   const std::vector<int32_t>& prefix = {}) {
  const SearchInput input{
      .source = kSource, .prefix = prefix, .max_length = kLongest, .options = options};
  TableStepper stepper(seed);
  return SearchAll({&input, 1}, {.max_beam_size = 200, .source_begin = 1, .source_end = 1},
                   &stepper)[0];
}

void ExpectSame(const std::vector<SearchResult>& found, const std::vector<PlainOutput>& all) {
  const size_t count = std::min<size_t>(5, all.size());
  ASSERT_GE(found.size(), count);
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(found[i].ids, all[i].ids);
    EXPECT_NEAR(found[i].score, all[i].score, 1e-5);
    EXPECT_NEAR(found[i].log_probability, all[i].log_probability, 1e-9);
  }
}

TEST(BeamLimitsTest, CoverageIsThatOfExhaustiveSearch) {
  int64_t changed = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const auto plain = PlainSearch(seed, 0, 0), all = PlainSearch(seed, 0, 0.7);
    changed += plain[0].ids != all[0].ids;
    for (const bool early_stop : {true, false}) {
      ExpectSame(
          SearchOf(
              seed,
              {.beam_size = 200, .n_best = 5, .coverage_penalty = 0.7, .early_stop = early_stop}),
          all);
    }
  }
  EXPECT_GT(changed, 3);
}

// The steps that write the prefix look at the source, too.
TEST(BeamLimitsTest, CoverageCountsAGivenBeginning) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const std::vector<int32_t> prefix = {6, 4};
    ExpectSame(SearchOf(seed, {.beam_size = 200, .n_best = 5, .coverage_penalty = 0.7}, prefix),
               PlainSearch(seed, 0, 0.7, prefix));
  }
}

TEST(BeamLimitsTest, CoverageOfSmallBeamsAndGroupsIsThatOfTheOutput) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    for (const int64_t groups : {1, 2}) {
      for (const SearchResult& each : SearchOf(
               seed, {.beam_size = 4, .n_best = 4, .groups = groups, .coverage_penalty = 0.5})) {
        if (!each.finished) continue;
        const double length = static_cast<double>(each.ids.size()) + 1;
        EXPECT_NEAR(each.score,
                    each.log_probability / std::pow((5 + length) / 6, 0.6) +
                        PlainCoverage(seed, each.ids, 0.5),
                    1e-5);
      }
    }
  }
}

TEST(BeamLimitsTest, AThresholdDropsWhatIsFarBehindTheBestOfItsStep) {
  int64_t fewer = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const size_t whole = PlainSearch(seed, 0, 0).size();
    for (const double threshold : {0.5, 2.0, 4.0, 1000.0}) {
      const auto all = PlainSearch(seed, threshold, 0);
      fewer += all.size() < whole;
      if (all.empty()) continue;
      const auto found = SearchOf(seed, {.beam_size = 200,
                                         .n_best = static_cast<int64_t>(all.size()),
                                         .beam_threshold = threshold,
                                         .early_stop = false});
      ASSERT_EQ(found.size(), all.size());
      ExpectSame(found, all);
    }
  }
  EXPECT_GT(fewer, 80);
}

TEST(BeamLimitsTest, WithoutALengthPenaltyAnEarlyExitAtOneChangesNothing) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    for (const double coverage : {0.0, 0.7}) {
      for (const double repetition : {1.0, 2.5}) {
        SentenceOptions options{.beam_size = 4,
                                .n_best = 2,
                                .length_penalty = 0,
                                .repetition_penalty = repetition,
                                .coverage_penalty = coverage,
                                .early_stop = false};
        const auto want = SearchOf(seed, options);
        options.early_exit = 1;
        const auto got = SearchOf(seed, options);
        ASSERT_EQ(got.size(), want.size());
        for (size_t i = 0; i < want.size(); ++i)
          EXPECT_EQ(got[i].ids, want[i].ids) << seed << ' ' << coverage << ' ' << repetition;
      }
    }
  }
}

// All that has a better score than what was found is less probable by the factor, at least.
TEST(BeamLimitsTest, AnEarlyExitMissesOnlyWhatIsImprobable) {
  int64_t missed = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const auto all = PlainSearch(seed, 0, 0);
    for (const double factor : {0.5, 1.0, 4.0}) {
      const auto found = SearchOf(seed, {.beam_size = 200, .early_exit = factor});
      ASSERT_FALSE(found.empty());
      for (const PlainOutput& better : all) {
        if (better.score <= found[0].score + 1e-9) break;
        ++missed;
        EXPECT_LE(better.log_probability, found[0].log_probability - std::log(factor) + 1e-9);
      }
    }
  }
  EXPECT_GT(missed, 0);
}

}  // namespace
}  // namespace attend
