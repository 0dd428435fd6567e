#include "text/sentence_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "base/random.h"
#include "text/lines.h"
#include "text/sentence_rules.h"

namespace attend {
namespace {

using testing::ElementsAre;

TEST(SentenceSplitter, KeepsWhiteSpaceWithTheSentenceBefore) {
  EXPECT_THAT(SplitSentences("One here.  Two there! Three?\tYes"),
              ElementsAre("One here.  ", "Two there! ", "Three?\t", "Yes"));
  EXPECT_THAT(SplitSentences("Das ist gut. Äpfel auch.", "de"),
              ElementsAre("Das ist gut. ", "Äpfel auch."));
  EXPECT_THAT(SplitSentences("これは本です。猫もいます。"),
              ElementsAre("これは本です。", "猫もいます。"));
  EXPECT_TRUE(SplitSentences("").empty());
}

// A case a line: language, tab, text with "|" at each break.
TEST(SentenceSplitter, CutsAsPeopleDo) {
  const std::vector<std::string> cases =
      ReadLines(ATTEND_SOURCE_DIR "/src/text/sentence_cases.txt", FormatCheck::kText);
  ASSERT_GE(cases.size(), 300);
  size_t wrong = 0;
  for (const std::string& line : cases) {
    const size_t tab = line.find('\t');
    const std::string expected = line.substr(tab + 1), language = line.substr(0, tab);
    std::string text = expected, found;
    std::erase(text, '|');
    for (const std::string_view sentence : SplitSentences(text, language))
      found.append(found.empty() ? "" : "|").append(sentence);
    if (found == expected) continue;
    ++wrong;
    std::cout << language << ": " << found << "\n  not " << expected << '\n';
  }
  EXPECT_EQ(wrong, 0);
}

// A word before a period comes without it, so an entry that has one is never found.
TEST(SentenceRules, NoEntryEndsInAPeriod) {
  for (const char* language :
       {"en", "de", "fr", "es", "pt", "it", "nl", "pl", "cs", "fi", "hi", "ru", "sv", "ja"}) {
    const SentenceRules& rules = SentenceRulesOf(language);
    for (const SentenceRules::Words* words :
         {&rules.titles, &rules.numbered, &rules.endings, &rules.suppressed, &rules.counted,
          &rules.starters, &rules.months}) {
      for (const std::string& word : *words) EXPECT_FALSE(word.ends_with('.')) << word;
    }
  }
}

TEST(SentenceRules, TakesTheUnicodeListsWithoutCommonWords) {
  const auto has = [](const char* language, const char* word) {
    return SentenceRulesOf(language).suppressed.contains(word);
  };
  EXPECT_TRUE(has("de", "Abt") && has("en", "Misc") && has("fr", "janv") && has("es", "depto") &&
              has("pt", "astron") && has("it", "pag") && has("ru", "янв"));
  EXPECT_FALSE(has("en", "In") || has("de", "So") || has("fr", "mer") || has("de", "PIN") ||
               has("de", "u"));
  EXPECT_TRUE(SentenceRulesOf("pl").suppressed.empty());  // not those of the process's locale
}

TEST(SentenceSplitter, PartsJoinToTheText) {
  Random random{1};
  const std::vector<std::string> parts = {
      "a", ".", " ", "B", "\xC3\xA4", "!", "\xE2\x80\xA8", "\xFF", "\xE2\x82", std::string(1, '\0'),
      "?"};
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (uint64_t k = random.Below(20); k > 0; --k) text += parts[random.Below(parts.size())];
    std::string joined;
    for (const std::string_view sentence : SplitSentences(text)) {
      EXPECT_FALSE(sentence.empty());
      joined += sentence;
    }
    EXPECT_EQ(joined, text);
  }
}

}  // namespace
}  // namespace attend
