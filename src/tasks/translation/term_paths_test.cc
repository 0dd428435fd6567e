#include "tasks/translation/term_paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <sstream>

#include "search/scores.h"
#include "search/search_batch.h"
#include "search/table_stepper_fixture.h"

namespace attend {
namespace {

using Ids = std::vector<int32_t>;

// Cuts a text into the longest tokens that there are, after a space; nothing where it can't.
TermPaths::Encode LongestTokens(const std::vector<std::string>& tokens) {
  return [tokens](const std::string& text) {
    Ids ids;
    for (std::string rest = " " + text; !rest.empty();) {
      int32_t best = -1;
      for (int32_t id = 0; id < std::ssize(tokens); ++id) {
        if (tokens[id].empty() || !rest.starts_with(tokens[id])) continue;
        if (best < 0 || tokens[id].size() > tokens[best].size()) best = id;
      }
      if (best < 0) return Ids();
      ids.push_back(best);
      rest.erase(0, tokens[best].size());
    }
    return ids;
  };
}

std::vector<FoundTerm> TermsFrom(const std::vector<std::vector<TermTarget>>& targets) {
  std::vector<FoundTerm> terms;
  for (const auto& each : targets) terms.push_back({0, 0, each});
  return terms;
}

// Whether the word is an inflected form: at most three letters more.
bool IsForm(const std::string& word, const TermTarget& target) {
  return word.starts_with(target.text) &&
         word.size() <= target.text.size() + (target.inflect ? 3 : 0);
}

struct Wanted {
  std::vector<TermTarget> targets;
  int64_t count;
};

int64_t MissingIn(const std::string& text, const std::vector<Wanted>& wanted) {
  int64_t missing = 0;
  for (const auto& [targets, count] : wanted) {
    int64_t has = 0;
    std::istringstream words(text);
    for (std::string word; words >> word;)
      has += std::ranges::any_of(targets, [&](const auto& each) { return IsForm(word, each); });
    missing += std::max<int64_t>(0, count - has);
  }
  return missing;
}

// Tokens that write the words a, ab, abb ... in several ways.
const std::vector<std::string> kTokens = {"", "", "", "", " ab", " a", "b"};

std::vector<SearchResult> AllOutputs(uint64_t seed, int64_t longest,
                                     const std::vector<Wanted>& wanted) {
  const TokenTexts texts(kTokens);
  std::vector<SearchResult> all;
  const std::function<void(const Ids&, double)> visit = [&](const Ids& ids, double sum) {
    const int32_t last = ids.empty() ? 2 : ids.back();
    const int32_t before = ids.empty() ? -1 - 5 : ids.size() == 1 ? 2 : ids[ids.size() - 2];
    for (const Candidate& next : Next(seed, before, last)) {
      const double total = sum + next.log_probability;
      if (next.id == kEos) {
        all.push_back({.ids = ids,
                       .score = total / LengthPenalty(std::ssize(ids) + 1, 0.6),
                       .missing = MissingIn(texts.Of(ids), wanted)});
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

TEST(TermPathsTest, AWideBeamFindsTheBestTextWithAllTerms) {
  const TermTarget a{"a"}, ab{"ab"}, ab_inflected{"ab", true}, abb{"abb"};
  const std::vector<std::vector<Wanted>> cases = {
      {{{ab}, 1}},  {{{ab}, 2}},           {{{ab_inflected}, 1}},
      {{{abb}, 1}}, {{{abb, a}, 2}},       {{{a}, 1}, {{ab_inflected}, 2}},
      {{{a}, 3}},   {{{abb}, 1}, {{a}, 1}}};
  const TokenTexts texts(kTokens);
  int64_t constrained = 0, partial = 0;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    for (const auto& wanted : cases) {
      std::vector<std::vector<TermTarget>> found;
      for (const Wanted& each : wanted) found.resize(found.size() + each.count, each.targets);
      const auto paths =
          std::make_shared<TermPaths>(TermsFrom(found), texts, LongestTokens(kTokens));
      EXPECT_EQ(paths->count(), std::ssize(found));
      for (const int64_t longest : {3, 6}) {
        const std::vector<SearchResult> all = AllOutputs(seed, longest, wanted);
        const SearchInput input{.source = {5},
                                .max_length = longest,
                                .options = {.beam_size = 400, .n_best = 2},
                                .terms = paths};
        TableStepper stepper(seed);
        const auto results = SearchAll({&input, 1}, {.max_beam_size = 420}, &stepper)[0];
        ASSERT_EQ(results.size(), 2u);
        // Where the best output has all terms without them, the others may lack some.
        for (size_t i = 0; i < (results[0].constrained ? results.size() : 1); ++i) {
          EXPECT_EQ(texts.Of(results[i].ids), texts.Of(all[i].ids)) << seed;
          EXPECT_EQ(results[i].ids, all[i].ids) << seed;
          EXPECT_EQ(results[i].missing, all[i].missing);
        }
        constrained += results[0].constrained;
        partial += results[0].missing > 0;
      }
    }
  }
  EXPECT_GT(constrained, 20);
  EXPECT_GT(partial, 0);
}

// What an output lacks, token by token, and at its end.
class FollowedTest : public testing::Test {
 protected:
  void Follow(const std::vector<TermTarget>& targets) {
    paths_ = std::make_unique<TermPaths>(TermsFrom({targets}), texts_, LongestTokens(tokens_));
    guide_ = paths_->Begin();
    state_ = 0;
  }
  // After the tokens, from the beginning.
  int64_t MissingAfter(const std::vector<std::string>& tokens) {
    state_ = 0;
    for (const std::string& token : tokens)
      state_ = guide_->Next(
          state_, static_cast<int32_t>(std::ranges::find(tokens_, token) - tokens_.begin()));
    return guide_->Missing(state_);
  }
  std::vector<std::string> Wanted() const {
    std::vector<std::string> wanted;
    for (const int32_t id : guide_->Wanted(state_)) wanted.push_back(tokens_[id]);
    return wanted;
  }

  const std::vector<std::string> tokens_ = {"",      " Haus", "Haus", "boot", "es",    " (", "(",
                                            " rot",  " Rot",  "e",    ",",    " x",    " R", "ot",
                                            " rote", "ation", " H",   "aus",  "\u00E4"};
  const TokenTexts texts_{tokens_};
  std::unique_ptr<TermPaths> paths_;
  std::unique_ptr<TermGuide> guide_;
  int32_t state_ = 0;
};
using Pieces = std::vector<std::string>;

TEST_F(FollowedTest, ATermIsAWholeWord) {
  Follow({{"Haus"}});
  EXPECT_EQ(MissingAfter({" Haus"}), 0);
  EXPECT_EQ(MissingAfter({" H", "aus"}), 0);
  EXPECT_EQ(MissingAfter({" (", "Haus", ","}), 0);
  EXPECT_EQ(MissingAfter({" Haus", "boot"}), 1);
  EXPECT_EQ(MissingAfter({" Haus", "es"}), 1);
  EXPECT_EQ(MissingAfter({" x", "Haus"}), 1);
  EXPECT_EQ(MissingAfter({" Haus", "boot", " Haus", ","}), 0);
  EXPECT_EQ(MissingAfter({" Haus", " Haus", "boot"}), 0);
}

TEST_F(FollowedTest, AStemMayHaveAnEnding) {
  Follow({{"rot", true}});
  EXPECT_EQ(MissingAfter({" rot", "es", ","}), 0);
  EXPECT_EQ(MissingAfter({" rote"}), 0);
  EXPECT_EQ(MissingAfter({" rot", "ation"}), 1);
  EXPECT_EQ(MissingAfter({" rot", "e", "es"}), 0);
  EXPECT_EQ(MissingAfter({" rot", "es", "es"}), 1);
}

TEST_F(FollowedTest, TheFirstLetterMayBeACapital) {
  Follow({{"rot"}});
  EXPECT_EQ(MissingAfter({" Rot", " x"}), 0);
  EXPECT_EQ(MissingAfter({" R", "ot"}), 0);
  Follow({{"Haus"}});
  EXPECT_EQ(Wanted(), (Pieces{" Haus"}));
}

TEST_F(FollowedTest, WantedTokensLeadToTheTerm) {
  Follow({{"rot", true}});
  EXPECT_EQ(Wanted(), (Pieces{" rot", " Rot", " rote"}));
  EXPECT_EQ(guide_->TokensLeft(state_), 1);
  EXPECT_EQ(MissingAfter({" rot"}), 0);
  EXPECT_EQ(guide_->TokensLeft(state_), 0);
  EXPECT_EQ(Wanted(), Pieces{});
  Follow({{"Haus"}});
  MissingAfter({" ("});
  EXPECT_EQ(Wanted(), (Pieces{" Haus", "Haus"}));
  MissingAfter({" Haus", "boot"});
  EXPECT_EQ(Wanted(), (Pieces{" Haus"}));
  EXPECT_EQ(guide_->TokensLeft(state_), 1);
}

// As in Chinese; but Korean has spaces.
TEST(TermPathsTest, AfterALetterOfAScriptWithoutSpacesATermNeedsNone) {
  const std::vector<std::string> tokens = {"",       " (",      "(",      " \u8BCD",
                                           "\u8BCD", " \u6211", "\u4EEC", " \uD55C"};
  const TokenTexts texts(tokens);
  const TermPaths paths(TermsFrom({{{"\u8BCD"}}}), texts, LongestTokens(tokens));
  const std::unique_ptr<TermGuide> guide = paths.Begin();
  const auto wanted = [&](const Ids& ids) {
    int32_t state = 0;
    for (const int32_t id : ids) state = guide->Next(state, id);
    const std::span<const int32_t> all = guide->Wanted(state);
    return Ids(all.begin(), all.end());
  };
  EXPECT_EQ(wanted({}), Ids{3});
  EXPECT_EQ(wanted({5}), (Ids{3, 4}));
  EXPECT_EQ(wanted({5, 6}), (Ids{3, 4}));
  EXPECT_EQ(wanted({7}), Ids{3});
  EXPECT_EQ(guide->Missing(guide->Next(guide->Next(0, 5), 4)), 0);
}

TEST_F(FollowedTest, WhatTheVocabularyCantWriteIsLeftOut) {
  const TermPaths some(TermsFrom({{{"Zug"}}, {{"Haus"}}, {{"Zug"}, {"rot"}}, {{"Haus"}}}), texts_,
                       LongestTokens(tokens_));
  EXPECT_EQ(some.count(), 3);
  EXPECT_EQ(some.Begin()->Missing(0), 3);
  const TermPaths none(TermsFrom({{{"Zug"}}}), texts_, LongestTokens(tokens_));
  EXPECT_EQ(none.count(), 0);
  EXPECT_TRUE(none.Tokens().empty());
}

// Of every output of up to five tokens; words are cut in other ways after a space than after "(".
TEST(TermPathsTest, WhereTokensAreLeftOneThatIsWantedMakesThemFewer) {
  const std::vector<std::vector<TermTarget>> terms = {
      {{"abc"}}, {{"dba"}}, {{"cab", true}, {"bd cc", false}}, {{"abc"}}};
  std::mt19937 random(1);
  int64_t checked = 0, longer_joined = 0, shorter_joined = 0;
  for (int round = 0; round < 30; ++round) {
    std::vector<std::string> tokens = {"", " (", "(", " a", " b", " c", " d", "a", "b", "c", "d"};
    for (const std::string word : {"ab", "bc", "abc", "db", "ba", "dba", "ca", "cab", "bd", "cc"}) {
      for (const char* before : {"", " "})
        if (random() % 3 == 0) tokens.push_back(before + word);
    }
    const TokenTexts texts(tokens);
    const TermPaths::Encode encode = LongestTokens(tokens);
    for (const std::string word : {"abc", "dba"}) {
      const int64_t spaced = std::ssize(encode(word)), joined = std::ssize(encode("(" + word)) - 1;
      longer_joined += joined > spaced;
      shorter_joined += joined < spaced;
    }
    const TermPaths paths(TermsFrom(terms), texts, encode);
    const std::unique_ptr<TermGuide> guide = paths.Begin();
    std::set<int32_t> seen = {0}, last = {0};
    for (int length = 0; length < 5; ++length) {
      std::set<int32_t> next;
      for (const int32_t state : last) {
        const int64_t left = guide->TokensLeft(state);
        const std::span<const int32_t> span = guide->Wanted(state);
        const Ids wanted(span.begin(), span.end());
        const bool fewer = std::ranges::any_of(wanted, [&](int32_t token) {
          return guide->TokensLeft(guide->Next(state, token)) < left;
        });
        ASSERT_EQ(fewer, left > 0) << "round " << round << ", state " << state;
        ++checked;
        for (int32_t token = 1; token < std::ssize(tokens); ++token) {
          const int32_t after = guide->Next(state, token);
          if (seen.insert(after).second) next.insert(after);
        }
      }
      last = std::move(next);
    }
  }
  EXPECT_GT(checked, 5000);
  EXPECT_GT(longer_joined, 5);
  EXPECT_GT(shorter_joined, 5);
}

}  // namespace
}  // namespace attend
