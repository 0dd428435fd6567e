#include "metrics/brackets.h"

#include <gtest/gtest.h>

#include "attend/error.h"

namespace attend {
namespace {

const char* const kGold = "(S (A (P this)) (B (Q is) (A (R a) (T test))))";

BracketCounts CountsOf(const std::string& found, const std::string& expected = kGold) {
  return ScoreBrackets({found}, {expected}).all;
}

void ExpectCounts(const std::string& found, int64_t brackets, int64_t right, int64_t crossing) {
  const BracketCounts counts = CountsOf(found);
  EXPECT_EQ(counts.valid(), 1) << found;
  EXPECT_EQ(counts.expected, 4) << found;
  EXPECT_EQ(counts.found, brackets) << found;
  EXPECT_EQ(counts.right, right) << found;
  EXPECT_EQ(counts.crossing, crossing) << found;
}

// The cases of evalb's own example, counted by hand.
TEST(Brackets, AreCountedAsEvalbDoes) {
  ExpectCounts(kGold, 4, 4, 0);
  ExpectCounts("(S (A (P this)) (B (Q is) (C (R a) (T test))))", 4, 3, 0);
  ExpectCounts("(S (A (P this)) (B (Q is) (R a) (A (T test))))", 4, 3, 0);
  ExpectCounts("(S (A (P this) (Q is)) (A (R a) (T test)))", 3, 2, 1);
  ExpectCounts("(P this) (Q is) (R a) (T test)", 0, 0, 0);
  ExpectCounts("(S (A (P this)) (B (Q is) (A (A (A (R a) (T test))))))", 6, 4, 0);
  ExpectCounts("(TOP (S (A (P this)) (B (Q is) (A (R a) (T test)))))", 4, 4, 0);
  ExpectCounts("(S-X (A-SBJ-1 (P this)) (B=2 (Q is) (A (R a) (T test))))", 4, 4, 0);
  ExpectCounts("(S (A (P this) (E (-NONE- *))) (B (Q is) (A (R a) (T test) (. .))))", 4, 4, 0);
  // Its outermost bracket has a label, the empty one.
  ExpectCounts("( (S (A (P this)) (B (Q is) (A (R a) (T test)))) )", 5, 4, 0);
}

TEST(Brackets, EqualOnesCountAsOftenAsBothHave) {
  const std::string twice = "(S (A (A (P this))) (B (Q is) (A (R a) (T test))))";
  EXPECT_EQ(CountsOf(kGold, twice).right, 4);
  EXPECT_EQ(CountsOf(twice, twice).right, 5);
  EXPECT_EQ(CountsOf(twice, twice).complete, 1);
  EXPECT_EQ(CountsOf(kGold, twice).complete, 0);
}

TEST(Brackets, AdverbialsAndParticlesAreOne) {
  const BracketCounts counts = CountsOf("(S (PRT (RP up)) (VB go))", "(S (ADVP (RP up)) (VB go))");
  EXPECT_EQ(counts.right, 2);
  EXPECT_EQ(CountsOf("(S (PRT up))", "(S (ADVP up))").right_tags, 1);
}

TEST(Brackets, SentencesWithoutTreesAreSkippedAndOtherWordsAreErrors) {
  for (const char* none : {"", "(())", "()", "(S (. .))", "(S (-NONE- *))", "no tree"}) {
    EXPECT_EQ(CountsOf(none).skipped, 1) << none;
    EXPECT_EQ(CountsOf(none).errors, 0) << none;
  }
  for (const char* wrong :
       {"(S (A (P This)) (B (Q is) (A (R a) (T test))))", "(S (P this))",
        "(S (A (P this)) (B (Q is) (A (R a) (: test))))",  // the word is left out with its tag
        "(S (A (P this)) (B (Q is) (A (R a) (T test)))",
        "(S (A (P this)) (B (Q is) (R a) (T test))))",
        "(S (A (P this)) (B (Q is) (A (R a b) (T test))))"}) {
    EXPECT_EQ(CountsOf(wrong).errors, 1) << wrong;
    EXPECT_EQ(CountsOf(wrong).expected, 0) << wrong;
  }
  EXPECT_EQ(CountsOf(kGold, "(S (P this)").errors, 1);
  EXPECT_DOUBLE_EQ(CountsOf("").f1(), 0);
}

TEST(Brackets, LengthCountsPunctuationButNoTraces) {
  const auto within = [](int64_t cutoff) {
    const std::string tree = "(S (NP (NN a) (-NONE- *)) (, ,) (VB b) (. .))";
    return ScoreBrackets({tree}, {tree}, cutoff).within.sentences;
  };
  EXPECT_EQ(within(3), 0);
  EXPECT_EQ(within(4), 1);
  const std::string tree = "(S (NP (NN a) (-NONE- *)) (, ,) (VB b) (. .))";
  EXPECT_EQ(ScoreBrackets({tree}, {tree}).all.words, 2);
}

TEST(Brackets, NeedAsManyLines) { EXPECT_THROW(ScoreBrackets({"(S (A a))"}, {}), Error); }

}  // namespace
}  // namespace attend
