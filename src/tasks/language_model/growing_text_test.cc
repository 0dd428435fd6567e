// Where texts end, and what of them is shown as they grow.
#include "tasks/language_model/growing_text.h"

#include <gtest/gtest.h>

#include "text/newlines.h"
#include "text/vocabulary_trainer.h"

namespace attend {
namespace {

TEST(GrowingTextTest, ATextEndsBeforeItsFirstStopText) {
  const std::vector<std::string> stop = {"\n\n", "END"};
  GrowingText text;
  EXPECT_TRUE(text.Grow("one EN", stop));
  EXPECT_EQ(text.Show(stop, false), "one ");
  EXPECT_TRUE(text.Grow("one EN two\n", stop));
  EXPECT_EQ(text.Show(stop, false), "EN two");
  EXPECT_FALSE(text.Grow("one EN two\nEND \n\n", stop));
  EXPECT_EQ(text.text(), "one EN two\n");
  EXPECT_EQ(text.Show(stop, false), "\n");
  EXPECT_EQ(text.Show(stop, true), "");
}

TEST(GrowingTextTest, APartOfACharacterWaitsForTheRest) {
  GrowingText text;
  EXPECT_TRUE(text.Grow("a\xEF\xBF\xBD\xEF\xBF\xBD", {}));
  EXPECT_EQ(text.Show({}, false), "a");
  EXPECT_TRUE(text.Grow("a\xC3\xA9", {}));
  EXPECT_EQ(text.Show({}, false), "\xC3\xA9");
  EXPECT_TRUE(text.Grow("a\xC3\xA9\xEF\xBF\xBD", {}));
  EXPECT_EQ(text.Show({}, true), "\xEF\xBF\xBD");
}

TEST(GrowingTextTest, AContinuationBeginsWithTheSpaceThatDividesItFromThePrompt) {
  const auto vocabulary = Vocabulary::Load(ATTEND_SOURCE_DIR "/tests/data/golden_v1/vocab.spm");
  const std::vector<int32_t> prompt = vocabulary->Encode("lumi"), more = vocabulary->Encode("tavo");
  EXPECT_EQ(Continuation(vocabulary.get(), prompt).Decode(more), " tavo");
  EXPECT_EQ(Continuation(vocabulary.get(), {}).Decode(more), "tavo");
  std::vector<int32_t> longer;
  for (int i = 0; i < 20; ++i) longer.insert(longer.end(), prompt.begin(), prompt.end());
  EXPECT_EQ(Continuation(vocabulary.get(), longer).Decode(more), " tavo");
}

TEST(GrowingTextTest, AContinuationMayHaveSeveralLines) {
  VocabularyOptions options;
  options.type = VocabularyType::kWord;
  options.newline = true;
  bool read = false;
  const auto line = [&](std::string* text) {
    *text = "to be or not";
    return !std::exchange(read, true);
  };
  const auto vocabulary = Vocabulary::FromBytes(TrainVocabulary(line, options, 1, NoLog()), "test");
  const std::vector<int32_t> prompt = EncodeText(*vocabulary, "to be");
  const std::vector<int32_t> more = EncodeText(*vocabulary, "or\nnot to\n");
  EXPECT_EQ(Continuation(vocabulary.get(), prompt).Decode(more), " or\nnot to\n");
}

}  // namespace
}  // namespace attend
