#include "text/case_marks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attend {
namespace {

std::string Marked(const std::string& text, const std::vector<std::string>& symbols = {}) {
  std::string spaced = "\u2581";
  for (const char c : text) spaced += c == ' ' ? std::string("\u2581") : std::string(1, c);
  const MarkedText marked = MarkCase(spaced, symbols);
  EXPECT_EQ(marked.origins.size(), marked.text.size());
  return marked.text;
}

TEST(CaseMarks, StandBeforeTheSpaceOfTheirWord) {
  EXPECT_EQ(Marked("das haus"), " das haus");
  EXPECT_EQ(Marked("Das Haus"), "⇧ das⇧ haus");
  EXPECT_EQ(Marked("das NEUE Haus"), " das⇪ neue⇧ haus");
  EXPECT_EQ(Marked("DAS NEUE HAUS, ja"), "⇫ das neue haus⇩, ja");
  EXPECT_EQ(Marked("\"Das\""), " \"⇧das\"");
  EXPECT_EQ(Marked("(NATO)"), " (⇪nato)");
}

TEST(CaseMarks, ManySingleCapitalsAreReadInOnePass) {
  std::string text, expected;
  for (int i = 0; i < 200'000; ++i) {
    text += i == 0 ? "A" : " A";
    expected += "⇧ a";
  }
  EXPECT_EQ(Marked(text), expected);
  EXPECT_EQ(Marked(text + " b A B AB CD"), expected + " b⇫ a b ab cd⇩");
}

TEST(CaseMarks, LettersWithinWordsHaveTheirOwn) {
  EXPECT_EQ(Marked("iPhone McDonald"), " i⇧phone⇧ mc⇧donald");
  EXPECT_EQ(Marked("TVs MP3s"), "⇫ tv⇩s⇫ mp⇩3s");
  EXPECT_EQ(Marked("3D 4DTV"), " 3⇧d⇪ 4dtv");
  EXPECT_EQ(Marked("DON'T L'ART"), "⇫ don't l'art⇩");
  EXPECT_EQ(Marked("Don't"), "⇧ don't");
  EXPECT_EQ(Marked("I saw A. B. C."), "⇧ i saw⇧ a.⇧ b.⇧ c.");
}

TEST(CaseMarks, WhatWouldNotComeBackStays) {
  EXPECT_EQ(Marked("İstanbul İSTANBUL"), " İstanbul⇪ İstanbul");
  EXPECT_EQ(Marked("GROẞE Große GROßE"), "⇪ groẞe⇧ große⇪ große");
  EXPECT_EQ(Marked("J\u030C Ö"), " J\u030C⇧ ö");
  EXPECT_EQ(Marked("ΟΔΟΣ ΣΑΣ Σ"), "⇫ οδος σας σ⇩");
  EXPECT_EQ(Marked("日本 ABC 中"), " 日本⇪ abc 中");
  EXPECT_EQ(Marked("A<Sep>B ABC", {"<Sep>"}), "⇧ a<Sep>⇧b⇪ abc");
}

TEST(CaseMarks, TextsOwnMarksAreTwice) {
  EXPECT_EQ(Marked("⇧Das ⇩"), " ⇧⇧⇧das ⇫⇩");
  EXPECT_EQ(Marked("⇪ ⇫"), " ⇪⇪ ⇫⇫");
}

TEST(CaseMarks, SayWhichLettersAreCapitals) {
  const auto apply = [](std::string_view text, std::vector<PlacedMark> marks) {
    return ApplyCase(text, marks);
  };
  EXPECT_EQ(apply("das haus", {{0, CaseMark::kTitle}, {3, CaseMark::kCapitals}}), "Das HAUS");
  EXPECT_EQ(apply("a b c d", {{1, CaseMark::kBegin}, {5, CaseMark::kEnd}}), "a B C d");
  EXPECT_EQ(apply("„ößt“ x", {{0, CaseMark::kCapitals}}), "„ÖßT“ x");
  EXPECT_EQ(apply("12 34", {{0, CaseMark::kTitle}, {5, CaseMark::kCapitals}}), "12 34");
  EXPECT_EQ(apply("alles", {{0, CaseMark::kBegin}}), "ALLES");
  EXPECT_EQ(apply("", {{0, CaseMark::kEnd}}), "");
}

TEST(CaseMarks, OtherCasesOfAText) {
  EXPECT_EQ(InCapitals("Der große Hund's 3d"), "DER GROßE HUND'S 3D");
  EXPECT_EQ(InTitleCase("der große hund's 3d-film McX"), "Der Große Hund's 3d-Film McX");
  EXPECT_EQ(Capitalised("öl für McX"), "Öl für McX");
  EXPECT_EQ(Capitalised(""), "");
}

}  // namespace
}  // namespace attend
