#include "serve/tasks/translation/language_detector.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

class LanguageDetectorTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasLanguageDetector()) GTEST_SKIP() << "built without CLD2 (libcld2-dev)";
  }
};

TEST_F(LanguageDetectorTest, SentencesAreKnown) {
  for (const auto& [text, code] :
       {std::pair{"Zwei junge Männer stehen in der Nähe vieler Büsche.", "de"},
        {"Two young men are outside near many bushes.", "en"},
        {"Deux jeunes hommes sont dehors près de buissons.", "fr"},
        {"Два молодых человека стоят возле кустов.", "ru"},
        {"שני גברים צעירים עומדים ליד השיחים", "he"}}) {
    const auto found = DetectLanguages(text);
    ASSERT_FALSE(found.empty()) << text;
    EXPECT_EQ(found[0].code, code);
    EXPECT_GT(found[0].confidence, 80) << text;
  }
}

TEST_F(LanguageDetectorTest, AWordIsAGuess) {
  const auto found = DetectLanguages("Hallo");
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].code, "de");
  EXPECT_LE(found[0].confidence, 50);
}

TEST_F(LanguageDetectorTest, TwoLanguagesAreBothFound) {
  const std::string english = "Two young men are outside near many bushes and look at them. ";
  const std::string german =
      "Zwei junge Männer stehen in der Nähe vieler Büsche und sehen sie an. ";
  const auto found = DetectLanguages(english + english + english + german + german);
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].code + found[1].code, "ende");
}

TEST_F(LanguageDetectorTest, WhatIsNoTextHasNone) {
  EXPECT_TRUE(DetectLanguages("").empty());
  EXPECT_TRUE(DetectLanguages("12345 ... !!!").empty());
}

TEST_F(LanguageDetectorTest, ALongTextIsCutBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "ы";
  for (int shift = 0; shift < 3; ++shift) DetectLanguages(std::string(shift, 'a') + text);
}

}  // namespace
}  // namespace attend
