#include "text/text_normalizer.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

std::string Normalized(const std::vector<NormalizerStep>& steps, const std::string& line) {
  TrackedText plain(line, 0, line.size(), false), tracked(line, 0, line.size(), true);
  Normalize(steps, &plain);
  Normalize(steps, &tracked);
  EXPECT_EQ(plain.text(), tracked.text());
  for (size_t at = 1; at <= tracked.text().size(); ++at)
    EXPECT_LE(tracked.OriginOf(at - 1), tracked.OriginOf(at)) << line;
  EXPECT_EQ(tracked.OriginOf(tracked.text().size()), line.size());
  return plain.text();
}

TEST(TextNormalizer, Cleans) {
  EXPECT_EQ(Normalized({NormalizerStep::kCleanText}, "a\x01\tb\u00A0c\u200D\uFFFD\x0B\u0085."),
            "a b c.");
  // U+08E2, a format character, came with Unicode 9.
  EXPECT_EQ(Normalized({NormalizerStep::kCleanText}, "\u08E2\uE000\u0378"), "\u08E2\u0378");
}

TEST(TextNormalizer, PutsSpacesAroundChineseCharacters) {
  EXPECT_EQ(Normalized({NormalizerStep::kSpaceChinese}, "a\u4E2D\u6587\u304B"),
            "a \u4E2D  \u6587 \u304B");
}

TEST(TextNormalizer, DropsMarks) {
  const std::string text = "e\u0301\u093E\u20DD";  // non-spacing, spacing, enclosing
  EXPECT_EQ(Normalized({NormalizerStep::kDropNonspacing}, text), "e\u093E\u20DD");
  EXPECT_EQ(Normalized({NormalizerStep::kDropMarks}, text), "e");
  EXPECT_EQ(Normalized({NormalizerStep::kNfd, NormalizerStep::kDropNonspacing}, "\u00C9a"), "Ea");
}

TEST(TextNormalizer, LowersEachCharacter) {
  EXPECT_EQ(Normalized({NormalizerStep::kLower}, "A\u00C9\u0130\u03A3\u1E9E"),
            "a\u00E9i\u0307\u03C3\u00DF");
  EXPECT_EQ(Normalized({NormalizerStep::kLower}, "\u1C89\U00016EA0"), "\u1C8A\U00016EBB");
}

TEST(TextNormalizer, KnowsTheFormsOfUnicode) {
  const std::string text = "\u1E69\u0323\uAC01\uFB01";
  EXPECT_EQ(Normalized({NormalizerStep::kNfc}, text), "\u1E69\u0323\uAC01\uFB01");
  EXPECT_EQ(Normalized({NormalizerStep::kNfd}, text),
            "s\u0323\u0323\u0307\u1100\u1161\u11A8\uFB01");
  EXPECT_EQ(Normalized({NormalizerStep::kNfkc}, text), "\u1E69\u0323\uAC01fi");
  EXPECT_EQ(Normalized({NormalizerStep::kNfkd}, "\uFB01"), "fi");
  EXPECT_EQ(Normalized({NormalizerStep::kNfkc}, "\u32FF"), "\u32FF") << "new in Unicode 12.1";
}

TEST(TextNormalizer, KnowsWhereTextComesFrom) {
  const std::string line = "xx\u00C9\u00A0a\u4E2D";  // of which the first byte is left out
  TrackedText text(line, 1, line.size(), true);
  Normalize({NormalizerStep::kCleanText, NormalizerStep::kSpaceChinese, NormalizerStep::kNfd,
             NormalizerStep::kDropNonspacing, NormalizerStep::kLower},
            &text);
  ASSERT_EQ(text.text(), "xe a \u4E2D ");
  const std::vector<size_t> expected = {1, 2, 4, 6, 7, 7, 7, 7, 7};
  for (size_t at = 0; at < expected.size(); ++at) EXPECT_EQ(text.OriginOf(at), expected[at]) << at;
}

}  // namespace
}  // namespace attend
