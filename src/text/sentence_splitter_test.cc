#include "text/sentence_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

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
