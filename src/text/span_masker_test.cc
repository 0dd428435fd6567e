#include "text/span_masker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace attend {
namespace {

using testing::ElementsAre;

const SpanMasker& Masker() {
  static const SpanMasker masker({.protect = {"all"}}, kPlaceholders);
  return masker;
}

std::string RoundTrip(const std::string& text, const std::string& output) {
  return SpanMasker::Restore(Masker().Mask(text), output).text;
}

TEST(SpanMaskerTest, SpansBecomePlaceholdersAndComeBack) {
  const MaskedText masked = Masker().Mask("See https://a.org/x for 5 reasons.");
  EXPECT_EQ(masked.text, "See ⟦0⟧ for ⟦1⟧ reasons.");
  EXPECT_EQ(masked.found, 2);
  const RestoredText restored = SpanMasker::Restore(masked, "⟦1⟧ Gründe: ⟦0⟧.");
  EXPECT_EQ(restored.text, "5 Gründe: https://a.org/x.");
  EXPECT_EQ(restored.kept, 2);
}

TEST(SpanMaskerTest, CountsWhatIsLostOrDoubled) {
  const MaskedText masked = Masker().Mask("1 and 2 and 3");
  const RestoredText restored = SpanMasker::Restore(masked, "⟦0⟧ ⟦2⟧ ⟦2⟧ ⟦7⟧");
  EXPECT_EQ(restored.kept, 1);
  EXPECT_EQ(restored.text, "1 3 3 ");
}

TEST(SpanMaskerTest, APlaceholdersTextIsTextLikeOther) {
  const std::string text = "Write ⟦1⟧ or ⟦99⟧ for 7, not ⟦x⟧";
  const MaskedText masked = Masker().Mask(text);
  EXPECT_EQ(masked.text, "Write ⟦0⟧ or ⟦1⟧ for ⟦2⟧, not ⟦x⟧");
  EXPECT_EQ(SpanMasker::Restore(masked, masked.text).text, text);
}

TEST(SpanMaskerTest, APlaceholdersTextInASpanIsPartOfIt) {
  const std::string text = "See https://a.org/⟦1⟧/x and ⟦2⟧5 or 6⟦3⟧";
  const MaskedText masked = Masker().Mask(text);
  EXPECT_EQ(masked.text, "See ⟦0⟧ and ⟦1⟧⟦2⟧ or ⟦3⟧⟦4⟧");
  EXPECT_EQ(SpanMasker::Restore(masked, masked.text).text, text);
}

TEST(SpanMaskerTest, ManyPlaceholdersAreFoundInOnePass) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "⟦5⟧ a 7 ";
  EXPECT_EQ(Masker().Mask(text).found, 200'001);  // the 7s and the placeholders behind them
}

TEST(SpanMaskerTest, SpacesAreTheOutputsUnlessASpanWouldRunIntoAWord) {
  EXPECT_EQ(RoundTrip("in 2023 ,", "在⟦0⟧年"), "在2023年");
  EXPECT_EQ(RoundTrip("a (5) b", "a (⟦0⟧) b"), "a (5) b");
  EXPECT_EQ(RoundTrip("the 5 dogs", "die⟦0⟧Hunde"), "die 5 Hunde");
  EXPECT_EQ(RoundTrip("1 or 2", "⟦0⟧⟦1⟧"), "1 2");
  EXPECT_EQ(RoundTrip("a<b>x</b>", "c⟦0⟧y⟦1⟧"), "c<b>y</b>");
}

TEST(SpanMaskerTest, SpansThatStoodApartStayApart) {
  EXPECT_EQ(RoundTrip("Go to https://example.org/a?b=1 , {name} .", "⟦0⟧⟦1⟧"),
            "https://example.org/a?b=1 {name}");
  EXPECT_EQ(RoundTrip("{a} or {b}", "⟦1⟧⟦0⟧"), "{b} {a}");
  EXPECT_EQ(RoundTrip("{a}{b} c", "⟦0⟧⟦1⟧ d"), "{a}{b} d");
  EXPECT_EQ(RoundTrip("<b><i>5 dogs</i></b>", "⟦0⟧⟦1⟧Hunde: ⟦2⟧⟦3⟧⟦4⟧"), "<b><i>Hunde: 5</i></b>");
}

TEST(SpanMaskerTest, TwoNumbersDoNotBecomeOne) {
  EXPECT_EQ(RoundTrip("1 dog and 2 cats", "⟦1⟧.⟦0⟧"), "2. 1");
  EXPECT_EQ(RoundTrip("1 dog and 2 cats", "⟦0⟧,⟦1⟧,"), "1, 2,");
  EXPECT_EQ(RoundTrip("from 3 to 5", "⟦0⟧-⟦1⟧"), "3-5");
  EXPECT_EQ(RoundTrip("{a}.{b} c", "⟦0⟧.⟦1⟧ d"), "{a}.{b} d");
}

TEST(SpanMaskerTest, WhatIsMoreThanPlaceholdersIsJoinedOrLeft) {
  const SpanMasker few({.protect = {"all"}}, 2);
  const MaskedText joined = few.Mask("1 | 2 | 3 | 4");
  EXPECT_LE(joined.spans.size(), 2u);
  EXPECT_EQ(joined.found, std::ssize(joined.spans));
  EXPECT_EQ(SpanMasker::Restore(joined, joined.text).text, "1 | 2 | 3 | 4");
  const MaskedText left = few.Mask("1 dog, 2 cats and 3 mice, ⟦1⟧");
  EXPECT_EQ(left.text, "⟦0⟧ dog, ⟦1⟧ cats and 3 mice, 1");
  EXPECT_EQ(left.found, 4);
}

std::pair<std::string, std::string> MaskPair(std::string source, std::string target,
                                             PairSpans* counts) {
  *counts = Masker().MaskPair(&source, &target, nullptr);
  return {source, target};
}

TEST(SpanMaskerTest, OfAPairWhatStandsAsOftenOnBothSidesIsMasked) {
  PairSpans counts;
  EXPECT_EQ(MaskPair("5 men, 3 cats, 5 dogs", "5 Hunde, drei Katzen, 5 Männer", &counts),
            std::pair(std::string("⟦0⟧ men, 3 cats, ⟦1⟧ dogs"),
                      std::string("⟦0⟧ Hunde, drei Katzen, ⟦1⟧ Männer")));
  EXPECT_EQ(counts.masked, 2);
  EXPECT_EQ(counts.unequal, 1);
  EXPECT_EQ(MaskPair("⟦3⟧ 1,000.5", "1.000,5", &counts),
            std::pair(std::string("3 1,000.5"), std::string("1.000,5")));
}

TEST(SpanMaskerTest, TrainingSeesAllNumbers) {
  std::set<std::string> seen;
  for (uint64_t line = 0; line < 500; ++line) {
    Random random({1, line});
    std::string source = "5 dogs", target = "5 Hunde";
    Masker().MaskPair(&source, &target, &random);
    EXPECT_EQ(source.substr(0, source.find(' ')), target.substr(0, target.find(' ')));
    seen.insert(source);
  }
  EXPECT_EQ(std::ssize(seen), kPlaceholders);
}

TEST(SpanMaskerTest, PairsToLearnFromHaveTheSamePlaceholdersOnBothSides) {
  const auto placeholders = [](const std::string& text) {
    std::multiset<std::string> found;
    for (size_t at = 0; (at = text.find("⟦", at)) != text.npos; ++at)
      found.insert(text.substr(at, text.find("⟧", at) - at));
    return found;
  };
  bool replaced = false;
  for (uint64_t line = 0; line < 200; ++line) {
    Random random({1, line}), again({1, line});
    std::string source = "A man plays Hockey with ⟦4⟧ .",
                target = "Ein Mann spielt hockey mit ⟦4⟧.";
    std::string second = source, second_target = target;
    Masker().AddPlaceholders(&source, &target, &random);
    EXPECT_GE(placeholders(source).size(), 2u);
    EXPECT_EQ(placeholders(source), placeholders(target)) << source << " / " << target;
    replaced |= source.find("Hockey") == source.npos && target.find("hockey") == target.npos;
    Masker().AddPlaceholders(&second, &second_target, &again);
    EXPECT_EQ(source, second);
    EXPECT_EQ(target, second_target);
  }
  EXPECT_TRUE(replaced);
}

TEST(SpanMaskerTest, WordsAreThoseOfTheOtherText) {
  const std::string text = "Use `a b c` or x.pdf , 7";
  const MaskedText masked = Masker().Mask(text);
  ASSERT_EQ(masked.text, "Use ⟦0⟧ or ⟦1⟧ , ⟦2⟧");
  EXPECT_THAT(WordsAfter(masked.text, text, masked.places), ElementsAre(0, 1, 4, 5, 6, 7));
}

}  // namespace
}  // namespace attend
