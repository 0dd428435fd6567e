#include "text/word_splitter.h"

#include <gmock/gmock.h>

#include <string>

namespace attend {
namespace {

using testing::ElementsAre;

std::vector<std::string> Split(const std::vector<SplitStep>& steps, std::string_view text) {
  std::vector<std::string> words;
  SplitWords(steps, text, [&](std::string_view word, int64_t begin) {
    words.emplace_back(word);
    // A word is there in the text, but for a space before it.
    const bool spaced = word.starts_with(' ') && (begin < 0 || text[begin] != ' ');
    const std::string_view own = word.substr(spaced ? 1 : 0);
    EXPECT_EQ(text.substr(begin + (spaced ? 1 : 0), own.size()), own);
  });
  return words;
}

TEST(WordSplitter, DividesAsBertDoes) {
  EXPECT_THAT(Split({{SplitKind::kBert}}, " don't\u3000stop\u2014now$ "),
              ElementsAre("don", "'", "t", "stop", "\u2014", "now", "$"));
  EXPECT_THAT(Split({{SplitKind::kBert}}, ""), ElementsAre());
}

TEST(WordSplitter, DividesAtWhiteSpace) {
  EXPECT_THAT(Split({{SplitKind::kWhitespace}}, "a_b c!? \u00E9\u0301"),
              ElementsAre("a_b", "c", "!?", "\u00E9\u0301"));
  EXPECT_THAT(Split({{SplitKind::kWhitespaceSplit}}, "\ta_b  c!?"), ElementsAre("a_b", "c!?"));
}

TEST(WordSplitter, DividesAsGpt2Does) {
  const SplitStep step = {SplitKind::kByteLevel};
  EXPECT_THAT(Split({step}, "it's we'll 'sup"), ElementsAre("it", "'s", " we", "'ll", " '", "sup"));
  EXPECT_THAT(Split({step}, "IT'S 12\u00BDa !?"),
              ElementsAre("IT", "'", "S", " 12\u00BD", "a", " !?"));
  EXPECT_THAT(Split({step}, "a   b\t\tc \t"), ElementsAre("a", "  ", " b", "\t", "\t", "c", " \t"));
  EXPECT_THAT(Split({step}, "a \tb "), ElementsAre("a", " ", "\t", "b", " "));
}

TEST(WordSplitter, PutsASpaceFirst) {
  SplitStep step = {SplitKind::kByteLevel, /*add_prefix_space=*/true};
  EXPECT_THAT(Split({step}, "ab c"), ElementsAre(" ab", " c"));
  EXPECT_THAT(Split({step}, " ab"), ElementsAre(" ab"));
  EXPECT_THAT(Split({step}, "\tab"), ElementsAre(" ", "\t", "ab"));
  EXPECT_THAT(Split({{SplitKind::kWhitespaceSplit}, step}, "ab c"), ElementsAre(" ab", " c"));
  step.use_regex = false;
  EXPECT_THAT(Split({step}, "ab c"), ElementsAre(" ab c"));
}

TEST(WordSplitter, WithoutStepsTheTextIsAWord) {
  EXPECT_THAT(Split({}, "a b"), ElementsAre("a b"));
  EXPECT_THAT(Split({}, ""), ElementsAre());
}

}  // namespace
}  // namespace attend
