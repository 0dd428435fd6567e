#include "search/beam_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "base/random.h"
#include "search/search_batch.h"
#include "search/table_stepper_fixture.h"

namespace attend {
namespace {

// What may follow an output of a source that begins with 5.
std::vector<Candidate> NextOf(uint64_t seed, const std::vector<int32_t>& ids) {
  const int32_t last = ids.empty() ? 2 : ids.back();
  return Next(seed, ids.empty() ? -1 - 5 : ids.size() == 1 ? 2 : ids[ids.size() - 2], last);
}

double PenaltyOf(const Candidate& next, const std::vector<int32_t>& ids,
                 double repetition_penalty) {
  if (std::ranges::find(ids, next.id) == ids.end()) return 0;
  return next.log_probability - next.log_probability * repetition_penalty;
}

// All outputs of a source that begins with 5, the best first.
std::vector<SearchResult> AllOutputs(uint64_t seed, int64_t longest,
                                     double repetition_penalty = 1) {
  std::vector<SearchResult> all;
  const std::function<void(const std::vector<int32_t>&, double, double)> visit =
      [&](const auto& ids, double sum, double penalty) {
        for (const Candidate& next : NextOf(seed, ids)) {
          const double total = sum + next.log_probability;
          if (next.id == kEos) {
            const double length = static_cast<double>(ids.size()) + 1;
            all.push_back({ids, (total - penalty) / std::pow((5 + length) / 6, 0.6), total, true});
          } else if (std::ssize(ids) + 1 < longest) {
            auto longer = ids;
            longer.push_back(next.id);
            visit(longer, total, penalty + PenaltyOf(next, ids, repetition_penalty));
          }
        }
      };
  visit({}, 0, 0);
  std::sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.score > b.score; });
  return all;
}

TEST(BeamSearchTest, AWideBeamFindsWhatExhaustiveSearchFinds) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const int64_t longest = 4;
    const std::vector<SearchResult> all = AllOutputs(seed, longest);
    for (const bool early_stop : {true, false}) {
      const SearchInput input{
          {5}, {}, {}, longest, {.beam_size = 200, .n_best = 5, .early_stop = early_stop}};
      TableStepper stepper(seed);
      const auto found = SearchAll({&input, 1}, {.max_beam_size = 200}, &stepper)[0];
      ASSERT_EQ(found.size(), 5u);
      for (size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(found[i].ids, all[i].ids) << seed;
        EXPECT_NEAR(found[i].score, all[i].score, 1e-12);
      }
    }
  }
}

// With few tokens eos is always among the best: hypotheses end before the best one does.
TEST(BeamSearchTest, ALeaderGoesOn) {
  int64_t better = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const auto score = [&](bool leader_goes_on, int64_t beam) {
      const SearchInput input{.source = {5},
                              .max_length = 8,
                              .options = {.beam_size = beam, .leader_goes_on = leader_goes_on}};
      TableStepper stepper(seed);
      return SearchAll({&input, 1}, {.max_beam_size = beam}, &stepper)[0][0].score;
    };
    const double ended = score(false, 3), whole = score(true, 3);
    EXPECT_GE(whole, ended) << seed;
    EXPECT_GE(score(true, 4000), whole) << seed;
    if (whole > ended) ++better;
  }
  EXPECT_GT(better, 0);
}

TEST(BeamSearchTest, WhatShowsNothingIsNoOutput) {
  const std::vector<uint8_t> blank = {0, 0, 0, 0, 1};  // 4; 5 and 6 show something
  const auto shows = [](int32_t id) { return id != 4; };
  for (uint64_t seed = 0; seed < 50; ++seed) {
    for (const int64_t least : {0, 1, 2}) {
      std::vector<SearchResult> all = AllOutputs(seed, 4);
      std::erase_if(all, [&](const SearchResult& output) {
        return std::ranges::count_if(output.ids, shows) < std::max<int64_t>(least, 1);
      });
      for (const bool early_stop : {true, false}) {
        const SentenceOptions options{.beam_size = 200,
                                      .n_best = 4,
                                      .min_length = least,
                                      .must_show = true,
                                      .early_stop = early_stop};
        const SearchInput input{.source = {5}, .max_length = 4, .options = options};
        TableStepper stepper(seed);
        const auto found =
            SearchAll({&input, 1}, {.max_beam_size = 200, .blank = blank}, &stepper)[0];
        ASSERT_EQ(found.size(), 4u);
        for (size_t i = 0; i < 4; ++i) EXPECT_EQ(found[i].ids, all[i].ids) << seed;
      }
    }
    for (const int64_t beam : {1, 4}) {  // narrow ones too
      const SearchInput input{
          .source = {5}, .max_length = 12, .options = {.beam_size = beam, .must_show = true}};
      TableStepper stepper(seed);
      const auto found = SearchAll({&input, 1}, {.blank = blank}, &stepper)[0];
      EXPECT_TRUE(!found[0].finished || std::ranges::count_if(found[0].ids, shows) > 0) << seed;
    }
  }
}

TEST(BeamSearchTest, TheBestOfEachTextAreFound) {
  // Those with as many 4 and as many 5 say the same.
  const auto text_of = [](std::span<const int32_t> ids) {
    std::string text(ids.begin(), ids.end());
    std::sort(text.begin(), text.end());
    return text;
  };
  for (uint64_t seed = 0; seed < 50; ++seed) {
    std::vector<SearchResult> best;
    std::vector<std::string> texts;
    for (const SearchResult& output : AllOutputs(seed, 4)) {
      const std::string text = text_of(output.ids);
      if (std::ranges::find(texts, text) != texts.end()) continue;
      texts.push_back(text);
      best.push_back(output);
    }
    for (const bool early_stop : {true, false}) {
      const SearchInput input{.source = {5},
                              .max_length = 4,
                              .options = {.beam_size = 200, .n_best = 7, .early_stop = early_stop}};
      TableStepper stepper(seed);
      const auto found =
          SearchAll({&input, 1}, {.max_beam_size = 200, .text_of = text_of}, &stepper)[0];
      ASSERT_EQ(found.size(), 7u);
      for (size_t i = 0; i < 7; ++i) EXPECT_EQ(found[i].ids, best[i].ids) << seed;
    }
    // How many are wanted decides nothing about the best.
    std::vector<int32_t> first;
    for (const int64_t n_best : {1, 2, 4}) {
      const SearchInput input{.source = {5}, .max_length = 12, .options = {.n_best = n_best}};
      TableStepper stepper(seed);
      const auto found = SearchAll({&input, 1}, {.text_of = text_of}, &stepper)[0];
      if (n_best == 1) first = found[0].ids;
      EXPECT_EQ(found[0].ids, first) << seed;
      for (size_t i = 0; i < found.size(); ++i) {
        for (size_t j = 0; j < i; ++j) EXPECT_NE(text_of(found[i].ids), text_of(found[j].ids));
      }
    }
  }
}

TEST(BeamSearchTest, NoOutputEndsBeforeTheMinimumLength) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    for (const int64_t beam : {1, 4}) {
      const SearchInput input{{5}, {}, {}, 6, {.beam_size = beam, .n_best = beam, .min_length = 4}};
      TableStepper stepper(seed);
      const auto found = SearchAll({&input, 1}, {}, &stepper)[0];
      ASSERT_FALSE(found.empty());
      for (const SearchResult& result : found) EXPECT_GE(result.ids.size(), 4u);
    }
  }
}

TEST(BeamSearchTest, NoNgramComesTwice) {
  const auto repeats = [](const std::vector<int32_t>& ids, int64_t n) {
    for (int64_t i = 0; i + n <= std::ssize(ids); ++i)
      for (int64_t j = 0; j < i; ++j)
        if (std::equal(ids.begin() + i, ids.begin() + i + n, ids.begin() + j)) return true;
    return false;
  };
  int64_t changed = 0;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    for (const int64_t n : {1, 2, 3}) {
      std::vector<SearchResult> all = AllOutputs(seed, 5);
      const std::vector<int32_t> best = all[0].ids;
      std::erase_if(all, [&](const SearchResult& output) { return repeats(output.ids, n); });
      changed += all[0].ids != best;
      for (const bool early_stop : {true, false}) {
        const SentenceOptions options{
            .beam_size = 1000, .n_best = 3, .no_repeat_ngram = n, .early_stop = early_stop};
        const SearchInput input{.source = {5}, .max_length = 5, .options = options};
        TableStepper stepper(seed);
        const auto found = SearchAll({&input, 1}, {.max_beam_size = 1000}, &stepper)[0];
        ASSERT_EQ(found.size(), std::min<size_t>(all.size(), 3));
        for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].ids, all[i].ids) << seed;
      }
    }
  }
  EXPECT_GT(changed, 0);
}

// Tokens 4 and 5 are placeholders, of which a source has none, one or both.
TEST(BeamSearchTest, AWideBeamFindsWhatExhaustiveSearchFindsWithRepetitionsPenalised) {
  int64_t differ = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<SearchResult> all = AllOutputs(seed, 5, 1.7);
    for (const bool early_stop : {true, false}) {
      const SearchInput input{
          .source = {5},
          .max_length = 5,
          .options = {
              .beam_size = 900, .n_best = 5, .repetition_penalty = 1.7, .early_stop = early_stop}};
      TableStepper stepper(seed);
      const auto found = SearchAll({&input, 1}, {.max_beam_size = 900}, &stepper)[0];
      ASSERT_EQ(found.size(), 5u);
      for (size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(found[i].ids, all[i].ids) << seed;
        EXPECT_NEAR(found[i].score, all[i].score, 1e-12);
        EXPECT_NEAR(found[i].log_probability, all[i].log_probability, 1e-12);
      }
      const std::vector<SearchResult> plain = AllOutputs(seed, 5);
      for (size_t i = 0; i < 5; ++i) differ += found[i].ids != plain[i].ids;
    }
  }
  EXPECT_GT(differ, 40);
}

// A greedy search sees one token of the model; a penalised one needs those that were there too.
TEST(BeamSearchTest, AGreedySearchWithRepetitionsPenalisedTakesTheBestOfAllTokens) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    for (const std::vector<int32_t>& prefix : {std::vector<int32_t>{}, {4, 6}}) {
      std::vector<int32_t> ids = prefix;
      while (ids.size() < 9) {
        const std::vector<Candidate> next = NextOf(seed, ids);
        const auto best = std::ranges::max_element(next, {}, [&](const Candidate& each) {
          return each.log_probability - PenaltyOf(each, ids, 3);
        });
        if (best->id == kEos) break;
        ids.push_back(best->id);
      }
      const SearchInput input{
          .source = {5},
          .prefix = prefix,
          .max_length = 9,
          .options = {.beam_size = 1, .scores = false, .repetition_penalty = 3}};
      TableStepper stepper(seed);
      EXPECT_EQ(SearchAll({&input, 1}, {}, &stepper)[0][0].ids, ids) << seed;
    }
  }
}

TEST(BeamSearchTest, AWideConstrainedBeamFindsWhatExhaustiveSearchFinds) {
  int64_t constrained = 0;
  for (uint64_t seed = 0; seed < 21; ++seed) {
    const int64_t longest = 5;
    const std::vector<int32_t> once = seed % 3 == 0   ? std::vector<int32_t>{}
                                      : seed % 3 == 1 ? std::vector<int32_t>{4}
                                                      : std::vector<int32_t>{5, 4};
    std::vector<SearchResult> all = AllOutputs(seed, longest);
    std::erase_if(all, [&](const SearchResult& result) {
      const bool right = std::ranges::all_of(result.ids, [&](int32_t id) {
        return id < 4 || id > 5 || std::ranges::count(once, id) == 1;
      });
      const bool whole = std::ranges::all_of(
          once, [&](int32_t id) { return std::ranges::count(result.ids, id) == 1; });
      return !right || !whole;
    });
    for (const bool early_stop : {true, false}) {
      const SearchInput input{
          {5}, {}, once, longest, {.beam_size = 200, .n_best = 5, .early_stop = early_stop}};
      TableStepper stepper(seed);
      const auto found =
          SearchAll({&input, 1}, {.max_beam_size = 200, .placeholders = {4, 5}}, &stepper)[0];
      ASSERT_EQ(found.size(), std::min<size_t>(5, all.size())) << seed;
      for (size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].ids, all[i].ids) << seed;
        EXPECT_NEAR(found[i].score, all[i].score, 1e-12);
      }
      constrained += found[0].constrained;
    }
  }
  EXPECT_GT(constrained, 20);
}

TEST(BeamSearchTest, EveryBeamHasEachPlaceholderOnce) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    for (const int64_t beam : {1, 2, 4}) {
      const SearchInput input{{5}, {}, {4, 5}, 6, {.beam_size = beam, .n_best = beam}};
      TableStepper stepper(seed);
      const auto found = SearchAll({&input, 1}, {.placeholders = {4, 5}}, &stepper)[0];
      ASSERT_FALSE(found.empty());
      for (const SearchResult& result : found) {
        EXPECT_EQ(std::ranges::count(result.ids, 4), 1) << seed;
        EXPECT_EQ(std::ranges::count(result.ids, 5), 1) << seed;
      }
    }
  }
}

// The second search of a sentence joins others, whose results stay what they were.
TEST(BeamSearchTest, ConstrainedResultsDoNotDependOnTheRoom) {
  std::vector<SearchInput> inputs;
  for (int i = 0; i < 30; ++i) {
    SearchInput& input = inputs.emplace_back();
    input.source = {3 + i % 3};
    input.max_length = 4 + i % 9;
    if (i % 2 == 0) input.once = {4};
    if (i % 3 == 0) input.once.push_back(5);
    input.options.beam_size = 1 + i % 4;
  }
  std::vector<std::vector<SearchResult>> alone;
  for (const SearchInput& input : inputs) {
    TableStepper stepper(9);
    alone.push_back(SearchAll({&input, 1}, {.placeholders = {4, 5}}, &stepper)[0]);
  }
  for (const int64_t sentences : {1, 2, 7, 64}) {
    TableStepper stepper(9);
    const auto found =
        SearchAll(inputs, {.placeholders = {4, 5}}, &stepper, {.sentences = sentences});
    for (size_t i = 0; i < inputs.size(); ++i) {
      ASSERT_EQ(found[i].size(), alone[i].size());
      for (size_t n = 0; n < found[i].size(); ++n) {
        EXPECT_EQ(found[i][n].ids, alone[i][n].ids);
        EXPECT_EQ(found[i][n].score, alone[i][n].score);
      }
    }
  }
}

// Sentences join and leave as there is room; what they share the batch with changes nothing, nor
// do wider and narrower beams beside their own.
TEST(BeamSearchTest, ResultsDoNotDependOnTheRoom) {
  std::vector<SearchInput> inputs;
  Random random({4});
  for (int i = 0; i < 40; ++i) {
    SearchInput& input = inputs.emplace_back();
    input.source.resize(1 + random.Below(9), static_cast<int32_t>(3 + random.Below(3)));
    if (i % 3 == 0) input.prefix.assign(random.Below(3), 4);
    input.max_length = static_cast<int64_t>(2 + random.Below(20));
  }
  for (const int64_t beam : {1, 4, 0}) {
    std::vector<std::vector<SearchResult>> alone;
    for (SearchInput& input : inputs) {
      SentenceOptions& options = input.options;
      const int64_t i = &input - inputs.data();
      options.beam_size = options.n_best = beam > 0 ? beam : 1 + i % 4;
      options.length_penalty = beam > 0 ? 0.6 : 0.3 * static_cast<double>(options.beam_size);
      options.no_repeat_ngram = i % 5 == 1 ? 2 : 0;
      options.repetition_penalty = i % 5 == 2 ? 1.3 : 1;
      options.coverage_penalty = i % 4 == 0 ? 0.5 : 0;
      options.beam_threshold = i % 4 == 2 ? 0.5 : 0;
      options.early_exit = i % 7 == 3 ? 1.1 : 0;
      TableStepper stepper(9);
      alone.push_back(SearchAll({&input, 1}, {.max_beam_size = options.beam_size}, &stepper)[0]);
    }
    for (const int64_t sentences : {1, 2, 3, 7, 64}) {
      for (const int64_t tokens : {1, 10, 1000}) {
        TableStepper stepper(9);
        const auto found = SearchAll(inputs, {}, &stepper, {sentences, tokens});
        if (tokens == 1000) {
          EXPECT_EQ(stepper.most_live(), std::min(sentences, std::ssize(inputs)));
        }
        for (size_t i = 0; i < inputs.size(); ++i) {
          ASSERT_EQ(found[i].size(), alone[i].size());
          for (size_t n = 0; n < found[i].size(); ++n) {
            EXPECT_EQ(found[i][n].ids, alone[i][n].ids);
            EXPECT_EQ(found[i][n].score, alone[i][n].score);
          }
        }
      }
    }
  }
}

// Takes each input back after as many steps as its index says.
class ImpatientQueue : public SearchQueue {
 public:
  explicit ImpatientQueue(std::vector<SearchInput> inputs)
      : inputs_(std::move(inputs)), asked_(inputs_.size()), done_(inputs_.size()) {}
  const SearchInput* Next(const SearchLoad& load) override {
    return next_ < inputs_.size() && load.sentences < 4 ? &inputs_[next_++] : nullptr;
  }
  bool Wanted(const SearchInput& input) override {
    const int64_t i = &input - inputs_.data();
    return asked_[i]++ < i;
  }
  void Dropped(const SearchInput&) override { ++dropped_; }
  void Done(const SearchInput& input, std::vector<SearchResult> results) override {
    done_[&input - inputs_.data()] = std::move(results);
  }

  std::vector<SearchInput> inputs_;
  size_t next_ = 0;
  std::vector<int64_t> asked_;
  std::vector<std::vector<SearchResult>> done_;
  int64_t dropped_ = 0;
};

TEST(BeamSearchTest, WhatIsNotWantedLeavesAndChangesNothingForTheRest) {
  std::vector<SearchInput> inputs(30, {{5}, {}, {}, 12, {.min_length = 8}});
  TableStepper alone(9);
  const auto want = SearchAll({inputs.data(), 1}, {}, &alone)[0];
  ImpatientQueue queue(inputs);
  TableStepper stepper(9);
  SearchQueued({}, &queue, &stepper);
  int64_t done = 0;
  for (const auto& results : queue.done_) {
    if (results.empty()) continue;
    ++done;
    EXPECT_EQ(results[0].ids, want[0].ids);
    EXPECT_EQ(results[0].score, want[0].score);
  }
  EXPECT_EQ(done + queue.dropped_, 30);
  EXPECT_GT(queue.dropped_, 1);
  EXPECT_GT(done, 10);
}

TEST(BeamSearchTest, EarlyStopChangesNothing) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    std::vector<SearchResult> found[2];
    for (const bool early_stop : {true, false}) {
      const SearchInput input{{5}, {}, {}, 30, {.n_best = 2, .early_stop = early_stop}};
      TableStepper stepper(seed);
      found[early_stop] = SearchAll({&input, 1}, {}, &stepper)[0];
    }
    ASSERT_EQ(found[0].size(), found[1].size());
    for (size_t i = 0; i < found[0].size(); ++i) EXPECT_EQ(found[0][i].ids, found[1][i].ids);
  }
}

}  // namespace
}  // namespace attend
