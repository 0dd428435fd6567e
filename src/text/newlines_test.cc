#include "text/newlines.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "text/tokenizer_fixture.h"
#include "text/vocabulary_trainer.h"

namespace attend {
namespace {

std::shared_ptr<const Vocabulary> Train(VocabularyType type, bool newline) {
  VocabularyOptions options;
  options.type = type;
  options.size = type == VocabularyType::kUnigram ? 23 : 40;
  options.newline = newline;
  options.normalization = Normalization::kNone;
  const std::vector<std::string> lines = {"to be or not", "that is the question", "be that it is"};
  size_t next = 0;
  const auto take = [&](std::string* line) {
    if (next == lines.size()) return false;
    *line = lines[next++];
    return true;
  };
  return Vocabulary::FromBytes(TrainVocabulary(take, options, 1, NoLog()), "test");
}

TEST(Newlines, AreTokensOfTheirOwn) {
  for (const VocabularyType type : {VocabularyType::kUnigram, VocabularyType::kBpe,
                                    VocabularyType::kWord, VocabularyType::kChar}) {
    const auto vocabulary = Train(type, true);
    const std::string text = "\nto be\n\nthat is\n";
    const std::vector<int32_t> ids = EncodeText(*vocabulary, text);
    EXPECT_EQ(std::ranges::count(ids, NewlineId(*vocabulary)), 4);
    EXPECT_EQ(ids.front(), NewlineId(*vocabulary));
    EXPECT_EQ(DecodeText(*vocabulary, ids), text);
    EXPECT_TRUE(EncodeText(*vocabulary, "").empty());
    EXPECT_EQ(DecodeText(*vocabulary, {}), "");
  }
}

// Each character is one token, so that a loss a token is a loss a character.
TEST(Newlines, CountAsOneCharacter) {
  const std::string text = "to be\n or\n";
  EXPECT_EQ(EncodeText(*Train(VocabularyType::kChar, true), text).size(), text.size());
}

TEST(Newlines, AreBytesOfByteLevelBpe) {
  const auto vocabulary = VocabularyFrom(ByteBpeFile());
  const std::string text = "a the\n\n the\n";
  const std::vector<int32_t> ids = EncodeText(*vocabulary, text);
  EXPECT_EQ(std::ranges::count(ids, vocabulary->Id("\u010A")), 3);
  EXPECT_EQ(DecodeText(*vocabulary, ids), text);
  EXPECT_EQ(vocabulary->Decode(ids), "a the   the ");
}

TEST(Newlines, AreSpacesWithoutTheirToken) {
  const auto vocabulary = Train(VocabularyType::kBpe, false);
  EXPECT_EQ(NewlineId(*vocabulary), -1);
  EXPECT_EQ(EncodeText(*vocabulary, "to\nbe"), vocabulary->Encode("to be"));
  EXPECT_EQ(DecodeText(*vocabulary, vocabulary->Encode("to be")), "to be");
}

}  // namespace
}  // namespace attend
