#include "data/text_survey.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/corpus_fixture.h"

namespace attend {
namespace {

using testing::ElementsAre;

class TextSurveyTest : public CorpusTest {};

TEST_F(TextSurveyTest, CountsBySideAndFindsHeldOutPairsInBothDirections) {
  const ParallelFiles train{{Write("1.a", "ab\ncd\n\xE4\xB8\xAD\n\n"), Write("2.a.gz", "x\nef\n")},
                            {Write("1.b", "AB\nef\nab\n\n"), Write("2.b.zst", "a\ncd\n")}};
  const ParallelFiles valid{{Write("v.a", "ab\nef\n\nnew\nab\n")},
                            {Write("v.b", "AB\ncd\n\nnew\nab\n")}};
  const HeldOutPairs held_out(valid);
  EXPECT_EQ(held_out.count(), 4);
  PairHashes wanted;
  held_out.AddTo(&wanted);
  for (const int threads : {1, 2}) {
    const TextSurvey survey = SurveyText(train, vocabulary_, vocabulary_, wanted, threads);
    EXPECT_EQ(survey.source.Text(),
              "2 of 8 characters (25 %), most often U+0078 x (1), U+4E2D \u4E2D (1)");
    EXPECT_EQ(survey.target.unknown, 2);
    EXPECT_THAT(survey.copies, ElementsAre());
    const auto [found, sources] = held_out.Among(survey.met);
    EXPECT_EQ(found.count, 2);
    EXPECT_EQ(sources, 1);  // the second "ab"
    EXPECT_THAT(found.first, ElementsAre(valid.source[0] + ":1", valid.source[0] + ":2"));
  }
}

TEST_F(TextSurveyTest, NamesFilesWithTheSameTextOnBothSides) {
  const ParallelFiles files{{Write("1.a", "ab\ncd\n"), Write("2.a", "ab\ncd\n")},
                            {Write("1.b", "ab\nce\n"), Write("2.b.gz", "ab\ncd\n")}};
  EXPECT_THAT(SurveyText(files, vocabulary_, vocabulary_, {}, 2).copies, ElementsAre(1));
}

}  // namespace
}  // namespace attend
