#include "tasks/parsing/tree_rules.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/random.h"
#include "search/scores.h"
#include "search/search_batch.h"

namespace attend {
namespace {

constexpr SpecialIds kIds;

std::shared_ptr<const TreeGrammar> SmallGrammar() {
  return std::make_shared<const TreeGrammar>(TreeSymbols({"A", "B"}, {"t", "u"}, kIds));
}

bool May(const OutputGuide& guide, int32_t state, int32_t id) {
  return std::ranges::find(guide.Never(state), id) == guide.Never(state).end();
}

std::vector<std::string> Names(int64_t count) { return std::vector<std::string>(count, "w"); }

std::vector<int32_t> Words(int64_t count) {
  std::vector<int32_t> places;
  for (int64_t i = 0; i <= count; ++i) places.push_back(static_cast<int32_t>(1 + i));
  return places;
}

TEST(TreeRules, SayWhatMayCome) {
  const auto grammar = SmallGrammar();
  const TreeSymbols& symbols = grammar->symbols();
  const int32_t open_a = symbols.Opening(0), open_b = symbols.Opening(1),
                close_a = symbols.Closing(0), close_b = symbols.Closing(1), word = symbols.Tag(1);
  const TreeRules rules(grammar, Names(2), {1, 4, 6}, 100);
  const auto guide = rules.Begin();
  int32_t state = 0;
  const auto expect = [&](bool open, bool is_word, bool closes_a, bool closes_b, bool end) {
    EXPECT_EQ(May(*guide, state, open_a), open);
    EXPECT_EQ(May(*guide, state, open_b), open);
    EXPECT_EQ(May(*guide, state, word), is_word);
    EXPECT_EQ(May(*guide, state, close_a), closes_a);
    EXPECT_EQ(May(*guide, state, close_b), closes_b);
    EXPECT_EQ(guide->MayEnd(state), end);
    for (const int32_t special : {0, 1, 2}) EXPECT_FALSE(May(*guide, state, special));
  };
  expect(true, false, false, false, false);
  EXPECT_EQ(guide->SourceRow(state), 1);
  state = guide->Next(state, open_a);
  expect(true, true, false, false, false);
  state = guide->Next(state, open_b);
  state = guide->Next(state, word);
  EXPECT_EQ(guide->SourceRow(state), 4);
  expect(true, true, false, true, false);
  state = guide->Next(state, close_b);
  expect(true, true, false, false, false);  // the outermost stays open while there are words
  state = guide->Next(state, word);
  EXPECT_EQ(guide->SourceRow(state), 6);
  expect(false, false, true, false, false);
  state = guide->Next(state, close_a);
  expect(false, false, false, false, true);
}

TEST(TreeRules, PunctuationHasItsTagsAlone) {
  const TreeSymbols symbols({"A"}, {",", "NN"}, kIds);
  const auto allowed = [&](const std::optional<PunctuationWords>& punctuation,
                           const std::string& word) {
    const auto grammar = std::make_shared<const TreeGrammar>(symbols, punctuation);
    const TreeRules rules(grammar, {&word, 1}, Words(1), 100);
    const auto guide = rules.Begin();
    const int32_t state = guide->Next(0, symbols.Opening(0));
    return std::pair(May(*guide, state, symbols.Tag(0)), May(*guide, state, symbols.Tag(1)));
  };
  const PunctuationWords words = {.always = {","}, .sometimes = {":"}};
  EXPECT_EQ(allowed(words, ","), std::pair(true, false));
  EXPECT_EQ(allowed(words, ":"), std::pair(true, true));
  EXPECT_EQ(allowed(words, "w"), std::pair(false, true));
  EXPECT_EQ(allowed(std::nullopt, "w"), std::pair(true, true));
}

TEST(TreeRules, ChainsAndLengthsEnd) {
  const auto grammar = SmallGrammar();
  const int32_t open = grammar->symbols().Opening(0);
  const auto openings = [&](int64_t words, int64_t max_length) {
    const TreeRules rules(grammar, Names(words), Words(words), max_length);
    const auto guide = rules.Begin();
    int64_t count = 0;
    for (int32_t state = 0; May(*guide, state, open); ++count) state = guide->Next(state, open);
    return count;
  };
  EXPECT_EQ(openings(1, 1000), kMostOpenings);
  EXPECT_EQ(openings(1, TreeRules::LeastLength(1)), 1);
  EXPECT_EQ(openings(3, TreeRules::LeastLength(3)), 1);
  EXPECT_EQ(openings(3, TreeRules::LeastLength(3) + 5), 3);
}

// log P(next | the two last tokens, the source row), at random.
class RandomStepper : public Stepper {
 public:
  RandomStepper(uint64_t seed, int64_t symbols) : seed_(seed), symbols_(symbols) {}
  void Reset(int64_t beam_size) override { last_.assign(8 * beam_size, -1); }
  void Start(std::span<const NewSentence> /*sentences*/) override {}
  void Step(std::span<const StepRow> rows, int64_t k, Candidate* best) override {
    for (const StepRow& row : rows) {
      std::vector<Candidate> next = Next(last_[row.hypothesis], row.token, row.source_row);
      last_[row.hypothesis] = row.token;
      std::erase_if(next, [&](const Candidate& c) {
        return c.id == kIds.eos ? !row.may_end
                                : std::ranges::find(row.never, c.id) != row.never.end();
      });
      std::ranges::stable_sort(next, std::ranges::greater(), &Candidate::log_probability);
      next.resize(std::min<size_t>(next.size(), k));
      std::copy(next.begin(), next.end(), best);
      best += k;
    }
  }
  void Reorder(int64_t sentence, std::span<const int32_t> parents) override {
    const std::vector<int32_t> last = last_;
    const int64_t first = sentence * (std::ssize(last_) / 8);
    for (size_t i = 0; i < parents.size(); ++i) last_[first + i] = last[first + parents[i]];
    if (parents.empty()) last_[first] = -1;
  }

  std::vector<Candidate> Next(int32_t before, int32_t last, int32_t row) const {
    Random random({seed_, static_cast<uint64_t>(before + 1), static_cast<uint64_t>(last),
                   static_cast<uint64_t>(row)});
    std::vector<Candidate> next;
    double sum = 0;
    for (int32_t id = 0; id < symbols_; ++id) {
      next.push_back({id, random.Normal() * 1.5});
      sum += std::exp(next.back().log_probability);
    }
    for (Candidate& each : next) each.log_probability -= std::log(sum);
    return next;
  }

 private:
  uint64_t seed_;
  int64_t symbols_;
  std::vector<int32_t> last_;
};

struct Found {
  std::vector<int32_t> ids;
  double score = 0;
};

// The best of all trees over the words, and how many there are.
Found BestTree(const RandomStepper& stepper, const TreeSymbols& symbols, int64_t words,
               int64_t max_length, int64_t* count) {
  Found best{{}, -1e9};
  const std::vector<std::string> names = Names(words);
  const std::vector<int32_t> places = Words(words);
  const std::function<void(std::vector<int32_t>, double, int64_t)> visit =
      [&](const std::vector<int32_t>& ids, double sum, int64_t seen) {
        const int32_t last = ids.empty() ? 2 : ids.back();
        const int32_t before = ids.empty() ? -1 : ids.size() == 1 ? 2 : ids[ids.size() - 2];
        for (const Candidate& next : stepper.Next(before, last, places[seen])) {
          const double total = sum + next.log_probability;
          Tree tree;
          if (next.id == kIds.eos && symbols.TreeOf(ids, names, &tree)) {
            ++*count;
            const double score = total / LengthPenalty(std::ssize(ids) + 1, 0.3);
            if (score > best.score) best = {ids, score};
          }
          if (next.id <= kIds.eos || std::ssize(ids) + 1 >= max_length) continue;
          const bool word = symbols.kind(next.id) == SymbolKind::kWord;
          if (word && seen == words) continue;
          std::vector<int32_t> longer = ids;
          longer.push_back(next.id);
          visit(longer, total, seen + (word ? 1 : 0));
        }
      };
  visit({}, 0, 0);
  return best;
}

TEST(TreeRules, AWideBeamFindsTheBestOfAllTrees) {
  const auto grammar = std::make_shared<const TreeGrammar>(TreeSymbols({"A", "B"}, {"t"}, kIds));
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const int64_t words = 1 + static_cast<int64_t>(seed % 2), max_length = words + 5;
    RandomStepper stepper(seed, grammar->symbols().size());
    SearchInput input;
    input.source = {2, 4, 3};
    input.max_length = max_length;
    input.options = {.beam_size = 500, .length_penalty = 0.3};
    input.rules = std::make_shared<TreeRules>(grammar, Names(words), Words(words), max_length);
    const auto found = SearchAll({&input, 1}, {.max_beam_size = 500}, &stepper)[0];
    int64_t count = 0;
    const Found best = BestTree(stepper, grammar->symbols(), words, max_length, &count);
    EXPECT_GT(count, 3);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_TRUE(found[0].finished);
    EXPECT_THAT(found[0].ids, testing::ElementsAreArray(best.ids)) << seed;
    EXPECT_NEAR(found[0].score, best.score, 1e-12);
  }
}

// Whatever the probabilities and however little room there is.
TEST(TreeRules, EveryOutputIsATree) {
  const auto grammar = SmallGrammar();
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random({seed, 11});
    const auto words = static_cast<int64_t>(1 + random.Below(12));
    const int64_t max_length =
        TreeRules::LeastLength(words) + static_cast<int64_t>(random.Below(seed % 3 == 0 ? 3 : 40));
    RandomStepper stepper(seed, grammar->symbols().size());
    SearchInput input;
    input.source = {2, 4, 3};
    input.max_length = max_length;
    input.options = {.beam_size = static_cast<int64_t>(1 + random.Below(6)), .length_penalty = 0.3};
    input.rules = std::make_shared<TreeRules>(grammar, Names(words), Words(words), max_length);
    const auto found = SearchAll({&input, 1}, {.max_beam_size = 8}, &stepper)[0];
    ASSERT_EQ(found.size(), 1u);
    EXPECT_TRUE(found[0].finished);
    Tree tree;
    EXPECT_TRUE(grammar->symbols().TreeOf(found[0].ids, Names(words), &tree));
  }
}

}  // namespace
}  // namespace attend
