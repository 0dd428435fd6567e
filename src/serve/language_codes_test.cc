#include "serve/language_codes.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

TEST(LanguageCodesTest, CaseAndSeparatorsDoNotCount) {
  for (const char* asked : {"pt-BR", "PT_br", " pt-br "})
    EXPECT_EQ(LanguageDistance(asked, "pt_BR"), 0);
  EXPECT_EQ(LanguageDistance("EN", "en"), 0);
}

TEST(LanguageCodesTest, TheBaseLanguageStandsForARegion) {
  EXPECT_EQ(LanguageDistance("en-US", "en"), 1);
  EXPECT_EQ(LanguageDistance("zh-Hant-TW", "zh-Hant"), 1);
  EXPECT_EQ(LanguageDistance("zh-Hant-TW", "zh"), 2);
  EXPECT_GT(LanguageDistance("pt", "pt-BR"), LanguageDistance("pt-BR-x", "pt"));
}

TEST(LanguageCodesTest, OtherLanguagesDoNotFit) {
  for (const auto& [asked, has] : {std::pair{"en", "de"},
                                   {"en-US", "en-GB"},
                                   {"zh-Hans", "zh-Hant"},
                                   {"en", "eng"},
                                   {"", "en"},
                                   {"en", ""},
                                   {"-", "en"}}) {
    EXPECT_FALSE(LanguageDistance(asked, has)) << asked << " " << has;
  }
}

}  // namespace
}  // namespace attend
