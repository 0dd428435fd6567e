#include "search/wanted_terms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <set>
#include <span>

#include "search/scores.h"
#include "search/search_batch.h"
#include "search/table_stepper_fixture.h"

namespace attend {
namespace {

using Ids = std::vector<int32_t>;
using Terms = std::vector<std::vector<Ids>>;  // the alternatives of each

bool Has(const Ids& ids, const Ids& part) { return !std::ranges::search(ids, part).empty(); }

int64_t MissingIn(const Terms& terms, const Ids& ids) {
  return std::ranges::count_if(terms, [&](const std::vector<Ids>& term) {
    return std::ranges::none_of(term, [&](const Ids& way) { return Has(ids, way); });
  });
}

// A state for each output; all by comparing it with the terms.
class PlainGuide : public TermGuide {
 public:
  explicit PlainGuide(const Terms& terms) : terms_(terms) { Add({}); }
  int32_t Next(int32_t state, int32_t token) override {
    Ids ids = outputs_[state];
    ids.push_back(token);
    Add(std::move(ids));
    return static_cast<int32_t>(outputs_.size()) - 1;
  }
  std::span<const int32_t> Wanted(int32_t state) const override { return wanted_[state]; }
  int64_t TokensLeft(int32_t state) const override { return left_[state]; }
  int64_t Missing(int32_t state) const override { return MissingIn(terms_, outputs_[state]); }

 private:
  static bool Ends(std::span<const int32_t> ids, std::span<const int32_t> begin) {
    return ids.size() >= begin.size() && std::equal(begin.rbegin(), begin.rend(), ids.rbegin());
  }
  void Add(Ids ids) {
    std::set<int32_t> wanted;
    int64_t left = 0, gained = 0;  // an output goes on with one term at a time
    for (const std::vector<Ids>& term : terms_) {
      if (MissingIn({term}, ids) == 0) continue;
      int64_t whole = 1000, least = 1000;
      for (const Ids& way : term) {
        whole = std::min(whole, std::ssize(way));
        for (size_t size = 0; size < way.size(); ++size) {
          if (!Ends(ids, std::span(way).first(size))) continue;
          wanted.insert(way[size]);
          least = std::min(least, static_cast<int64_t>(way.size() - size));
        }
      }
      left += whole;
      gained = std::max(gained, whole - least);
    }
    left -= gained;
    outputs_.push_back(std::move(ids));
    wanted_.emplace_back(wanted.begin(), wanted.end());
    left_.push_back(left);
  }

  const Terms& terms_;
  std::vector<Ids> outputs_;
  std::deque<Ids> wanted_;
  std::vector<int64_t> left_;
};

class PlainTerms : public WantedTerms {
 public:
  explicit PlainTerms(Terms terms) : terms_(std::move(terms)) {}
  std::unique_ptr<TermGuide> Begin() const override { return std::make_unique<PlainGuide>(terms_); }
  int64_t TokensLeft() const override { return Begin()->TokensLeft(0); }
  std::span<const int32_t> Tokens() const override { return tokens_; }

 private:
  const Terms terms_;
  const std::vector<int32_t> tokens_ = {4, 5, 6};  // more than it wants
};

// One term, alternatives of it, two terms, terms that begin alike, and what must be there twice.
const std::vector<Terms>& Cases() {
  static const std::vector<Terms> cases = {
      {{{4}}},        {{{6, 6}}},           {{{4, 6}, {5, 5, 5}}},
      {{{4}}, {{6}}}, {{{4, 5}}, {{4, 6}}}, {{{6, 4, 6}}, {{5}, {4, 4}}},
      {{{4, 4, 5}}},
  };
  return cases;
}

// All outputs of at most `longest` tokens, eos included: those with most terms first, then by
// score.
std::vector<SearchResult> AllOutputs(uint64_t seed, int64_t longest, const Terms& terms) {
  std::vector<SearchResult> all;
  const std::function<void(const Ids&, double)> visit = [&](const Ids& ids, double sum) {
    const int32_t last = ids.empty() ? 2 : ids.back();
    const int32_t before = ids.empty() ? -1 - 5 : ids.size() == 1 ? 2 : ids[ids.size() - 2];
    for (const Candidate& next : Next(seed, before, last)) {
      const double total = sum + next.log_probability;
      if (next.id == kEos) {
        all.push_back({.ids = ids,
                       .score = total / LengthPenalty(std::ssize(ids) + 1, 0.6),
                       .missing = MissingIn(terms, ids)});
      } else if (std::ssize(ids) + 1 < longest) {
        Ids longer = ids;
        longer.push_back(next.id);
        visit(longer, total);
      }
    }
  };
  visit({}, 0);
  std::ranges::sort(all, [](const SearchResult& a, const SearchResult& b) {
    return a.missing != b.missing ? a.missing < b.missing : a.score > b.score;
  });
  return all;
}

SearchInput InputOf(const Terms& terms, int64_t longest, SentenceOptions options) {
  return {.source = {5},
          .max_length = longest,
          .options = options,
          .terms = std::make_shared<PlainTerms>(terms)};
}

TEST(WantedTermsTest, AWideBeamFindsWhatExhaustiveSearchFinds) {
  int64_t constrained = 0, partial = 0;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    for (const Terms& terms : Cases()) {
      for (const int64_t longest : {3, 5}) {  // the first has no room for some
        const std::vector<SearchResult> all = AllOutputs(seed, longest, terms);
        for (const bool early_stop : {true, false}) {
          const SearchInput input =
              InputOf(terms, longest, {.beam_size = 1000, .n_best = 3, .early_stop = early_stop});
          TableStepper stepper(seed);
          const auto found = SearchAll({&input, 1}, {.max_beam_size = 1100}, &stepper)[0];
          ASSERT_EQ(found.size(), 3u);
          // Where the best output has all terms without them, the others may lack some.
          for (size_t i = 0; i < (found[0].constrained ? found.size() : 1); ++i) {
            EXPECT_EQ(found[i].ids, all[i].ids) << seed << ' ' << i;
            EXPECT_NEAR(found[i].score, all[i].score, 1e-12);
            EXPECT_EQ(found[i].missing, all[i].missing);
          }
          constrained += found[0].constrained;
          partial += found[0].missing > 0;
        }
      }
    }
  }
  EXPECT_GT(constrained, 40);
  EXPECT_GT(partial, 10);
}

TEST(WantedTermsTest, NarrowBeamsHaveAllTerms) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    for (const Terms& terms : Cases()) {
      for (const int64_t beam : {1, 2, 4, 6}) {
        const SearchInput input = InputOf(terms, 30, {.beam_size = beam, .n_best = beam});
        TableStepper stepper(seed);
        const auto found = SearchAll({&input, 1}, {.max_beam_size = 12}, &stepper)[0];
        ASSERT_FALSE(found.empty());
        EXPECT_EQ(MissingIn(terms, found[0].ids), found[0].missing);
        EXPECT_EQ(found[0].missing, 0) << seed << " beam " << beam;
      }
    }
  }
}

// It has them already, so it is searched for once, as without terms.
TEST(WantedTermsTest, AResultWithAllTermsIsThatOfAPlainBeam) {
  int64_t same = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const SearchInput plain{.source = {5}, .max_length = 12};
    TableStepper first(seed);
    const auto want = SearchAll({&plain, 1}, {}, &first)[0][0];
    for (const Terms& terms : Cases()) {
      const SearchInput input = InputOf(terms, 12, {});
      TableStepper stepper(seed);
      const auto found = SearchAll({&input, 1}, {.max_beam_size = 12}, &stepper)[0][0];
      EXPECT_EQ(found.constrained, MissingIn(terms, want.ids) > 0);
      if (found.constrained) continue;
      EXPECT_EQ(found.ids, want.ids);
      EXPECT_EQ(found.score, want.score);
      ++same;
    }
  }
  EXPECT_GT(same, 10);
}

// What every sentence began with.
class WatchedStepper : public TableStepper {
 public:
  using TableStepper::TableStepper;
  void Start(std::span<const NewSentence> sentences) override {
    for (const NewSentence& sentence : sentences)
      began.emplace_back(sentence.wanted.begin(), sentence.wanted.end());
    TableStepper::Start(sentences);
  }
  std::vector<Ids> began;
};

TEST(WantedTermsTest, OnlyTheSecondSearchKnowsOfTheTerms) {
  int64_t twice = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const SearchInput input = InputOf({{{4}, {6}}}, 12, {});
    WatchedStepper stepper(seed);
    const auto found = SearchAll({&input, 1}, {.max_beam_size = 12}, &stepper)[0][0];
    twice += found.constrained;
    ASSERT_EQ(stepper.began.size(), found.constrained ? 2u : 1u);
    EXPECT_EQ(stepper.began[0], Ids{});
    EXPECT_EQ(stepper.began.back(), found.constrained ? (Ids{4, 5, 6}) : Ids{});
  }
  EXPECT_GT(twice, 2);
  EXPECT_LT(twice, 38);
}

TEST(WantedTermsTest, AnInputCountsAsOftenAsItsBeamIsWider) {
  SearchInput plain = InputOf({{{4, 5}}, {{6}}}, 12, {.beam_size = 4});
  plain.source.assign(20, 5);
  SearchInput wide = plain, greedy = plain;
  plain.terms = nullptr;
  greedy.options.beam_size = 1;
  EXPECT_EQ(plain.tokens(), 20);
  EXPECT_EQ(wide.tokens(), 20 * (4 + 3) / 4);
  EXPECT_EQ(greedy.tokens(), 20 * (4 + 3));
  for (const auto& [one, most] : {std::pair(plain, 2), std::pair(wide, 1)}) {
    const std::vector<SearchInput> inputs(3, one);
    TableStepper stepper(1);
    SearchAll(inputs, {.max_beam_size = 12}, &stepper, {.tokens = 59});
    EXPECT_EQ(stepper.most_live(), most);
  }
}

TEST(WantedTermsTest, TermsGoTogetherWithPlaceholdersAndForbiddenRepeats) {
  const Terms terms = {{{6, 6}}};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SearchInput input = InputOf(terms, 6, {.beam_size = 1000, .n_best = 2, .no_repeat_ngram = 2});
    input.once = {4};
    std::vector<SearchResult> all = AllOutputs(seed, 6, terms);
    std::erase_if(all, [](const SearchResult& output) {
      std::set<std::pair<int32_t, int32_t>> pairs;
      for (size_t i = 1; i < output.ids.size(); ++i)
        if (!pairs.emplace(output.ids[i - 1], output.ids[i]).second) return true;
      return std::ranges::count(output.ids, 4) != 1;
    });
    TableStepper stepper(seed);
    const auto found =
        SearchAll({&input, 1}, {.max_beam_size = 1100, .placeholders = {4}}, &stepper)[0];
    ASSERT_EQ(found.size(), 2u);
    for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].ids, all[i].ids) << seed;
  }
}

TEST(WantedTermsTest, AGivenBeginningCounts) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SearchInput input = InputOf({{{4, 5}}, {{6}}}, 9, {});
    input.prefix = {6, 4};
    TableStepper stepper(seed);
    const auto found = SearchAll({&input, 1}, {.max_beam_size = 12}, &stepper)[0][0];
    EXPECT_EQ(found.missing, 0) << seed;
    EXPECT_EQ(Ids(found.ids.begin(), found.ids.begin() + 2), input.prefix);
  }
}

TEST(WantedTermsTest, ResultsDoNotDependOnTheRoom) {
  std::vector<SearchInput> inputs;
  for (int i = 0; i < 42; ++i) {
    inputs.push_back(InputOf(Cases()[i % 7], 3 + i % 9, {.beam_size = 1 + i % 4}));
    if (i % 3 == 0) inputs.back().terms = nullptr;
    if (i % 4 == 0) inputs.back().once = {4};
    inputs.back().source = {3 + i % 3};
  }
  const SearchOptions options{.max_beam_size = 12, .placeholders = {4}};
  for (const int64_t sentences : {2, 7, 64}) {
    TableStepper stepper(9);
    const auto found = SearchAll(inputs, options, &stepper, {.sentences = sentences});
    for (size_t i = 0; i < inputs.size(); ++i) {
      TableStepper alone(9);
      const auto want = SearchAll({&inputs[i], 1}, options, &alone)[0];
      ASSERT_EQ(found[i].size(), want.size());
      for (size_t n = 0; n < want.size(); ++n) {
        EXPECT_EQ(found[i][n].ids, want[n].ids);
        EXPECT_EQ(found[i][n].score, want[n].score);
        EXPECT_EQ(found[i][n].missing, want[n].missing);
      }
    }
  }
}

}  // namespace
}  // namespace attend
