#include "engine/search/beam_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/random.h"

namespace attend {
namespace {

constexpr int32_t kVocabulary = 6, kEos = 3;

// log P(next | last two tokens), at random.
std::vector<Candidate> Next(uint64_t seed, int32_t before, int32_t last) {
  Random random({seed, static_cast<uint64_t>(before + 1), static_cast<uint64_t>(last)});
  std::vector<Candidate> next;
  double sum = 0;
  for (int32_t id = kEos; id < kVocabulary; ++id) {
    next.push_back({id, random.Normal() * 1.5});
    sum += std::exp(next.back().log_probability);
  }
  for (Candidate& candidate : next) candidate.log_probability -= std::log(sum);
  return next;
}

class TableStepper : public Stepper {
 public:
  explicit TableStepper(uint64_t seed) : seed_(seed) {}
  void Start(std::span<const std::vector<int32_t>> sources, int64_t beam_size) override {
    last_.assign(sources.size() * beam_size, -1);
    before_ = last_;
  }
  void Step(std::span<const StepRow> rows, int64_t k, Candidate* best) override {
    for (const StepRow& row : rows) {
      before_[row.slot] = last_[row.slot];
      last_[row.slot] = row.token;
      std::vector<Candidate> next = Next(seed_, before_[row.slot], row.token);
      std::stable_sort(next.begin(), next.end(), [](const Candidate& a, const Candidate& b) {
        return a.log_probability > b.log_probability;
      });
      if (!row.may_end) std::erase_if(next, [](const Candidate& c) { return c.id == kEos; });
      next.resize(std::min<size_t>(next.size(), k));
      std::copy(next.begin(), next.end(), best);
      best += k;
    }
  }
  void Reorder(int64_t first, std::span<const int32_t> parents) override {
    const std::vector<int32_t> last = last_, before = before_;
    for (size_t i = 0; i < parents.size(); ++i) {
      last_[first + i] = last[first + parents[i]];
      before_[first + i] = before[first + parents[i]];
    }
  }

 private:
  uint64_t seed_;
  std::vector<int32_t> last_, before_;
};

TEST(BeamSearchTest, AWideBeamFindsWhatExhaustiveSearchFinds) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    std::vector<SearchResult> all;
    const int64_t longest = 4;
    const std::function<void(std::vector<int32_t>, double)> visit = [&](auto ids, double sum) {
      const int32_t last = ids.empty() ? 2 : ids.back();
      const int32_t before = ids.empty() ? -1 : ids.size() == 1 ? 2 : ids[ids.size() - 2];
      for (const Candidate& next : Next(seed, before, last)) {
        const double total = sum + next.log_probability;
        if (next.id == kEos) {
          const double length = static_cast<double>(ids.size()) + 1;
          all.push_back({ids, total / std::pow((5 + length) / 6, 0.6), total, true});
        } else if (std::ssize(ids) + 1 < longest) {
          auto longer = ids;
          longer.push_back(next.id);
          visit(longer, total);
        }
      }
    };
    visit({}, 0);
    std::sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.score > b.score; });
    for (const bool early_stop : {true, false}) {
      SearchOptions options{.beam_size = 200, .n_best = 5, .early_stop = early_stop};
      const SearchInput input{{5}, {}, longest};
      TableStepper stepper(seed);
      const auto found = BeamSearch({&input, 1}, options, &stepper)[0];
      ASSERT_EQ(found.size(), 5u);
      for (size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(found[i].ids, all[i].ids) << seed;
        EXPECT_NEAR(found[i].score, all[i].score, 1e-12);
      }
    }
  }
}

TEST(BeamSearchTest, NoOutputEndsBeforeTheMinimumLength) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    for (const int64_t beam : {1, 4}) {
      const SearchInput input{{5}, {}, 6};
      TableStepper stepper(seed);
      const SearchOptions options{.beam_size = beam, .n_best = beam, .min_length = 4};
      const auto found = BeamSearch({&input, 1}, options, &stepper)[0];
      ASSERT_FALSE(found.empty());
      for (const SearchResult& result : found) EXPECT_GE(result.ids.size(), 4u);
    }
  }
}

TEST(BeamSearchTest, EarlyStopChangesNothing) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const SearchInput input{{5}, {}, 30};
    std::vector<SearchResult> found[2];
    for (const bool early_stop : {true, false}) {
      TableStepper stepper(seed);
      found[early_stop] = BeamSearch(
          {&input, 1}, {.beam_size = 4, .n_best = 2, .early_stop = early_stop}, &stepper)[0];
    }
    ASSERT_EQ(found[0].size(), found[1].size());
    for (size_t i = 0; i < found[0].size(); ++i) EXPECT_EQ(found[0][i].ids, found[1][i].ids);
  }
}

}  // namespace
}  // namespace attend
