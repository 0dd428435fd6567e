#include "text/sentinels.h"

#include <gmock/gmock.h>

#include "attend/error.h"
#include "text/tokenizer_fixture.h"
#include "text/vocabulary_fixture.h"

namespace attend {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

VocabularyOptions WithSentinels(int64_t sentinels) {
  VocabularyOptions options = SmallBpe();
  options.sentinels = sentinels;
  return options;
}

TEST(Sentinels, AVocabularyHasAsManyAsWereAskedFor) {
  const auto vocabulary = Vocabulary::FromBytes(Train(WithSentinels(3)), "test");
  EXPECT_EQ(vocabulary->size(), 60);
  const std::vector<int32_t> ids = SentinelIds(*vocabulary);
  ASSERT_EQ(ids.size(), 3);
  for (size_t i = 0; i < ids.size(); ++i)
    EXPECT_EQ(vocabulary->Piece(ids[i]), "<extra_id_" + std::to_string(i) + ">");
  // Each is one piece wherever a text has it.
  EXPECT_THAT(vocabulary->Encode("the <extra_id_1> is"), testing::Contains(ids[1]));
  EXPECT_TRUE(SentinelIds(*Vocabulary::FromBytes(Train(SmallBpe()), "test")).empty());
}

TEST(Sentinels, AreFoundByTheirNames) {
  // T5's ids fall, and what comes after a gap is none.
  Json file = WordPieceFile();
  Json& tokens = file["model"]["vocab"];
  for (const char* token : {"the", "e", "a"}) tokens.erase(token);
  tokens["<extra_id_3>"] = 5;
  tokens["<extra_id_1>"] = 10;
  tokens["<extra_id_0>"] = 15;
  const auto vocabulary = VocabularyFrom(file);
  EXPECT_THAT(SentinelIds(*vocabulary), ElementsAre(15, 10));
}

TEST(Sentinels, StandBetweenTheWordsOfAText) {
  const auto vocabulary = Vocabulary::FromBytes(Train(WithSentinels(2)), "test");
  const std::vector<int32_t> marks = SentinelIds(*vocabulary);
  std::vector<int32_t> ids = {marks[0]};
  const auto add = [&](const std::vector<int32_t>& more) {
    ids.insert(ids.end(), more.begin(), more.end());
  };
  add(vocabulary->Encode("old house"));
  add({marks[1], marks[0]});
  add(vocabulary->Encode("is"));
  EXPECT_EQ(DecodeWithMarks(*vocabulary, ids, marks),
            "<extra_id_0> old house <extra_id_1> <extra_id_0> is");
  EXPECT_EQ(DecodeWithMarks(*vocabulary, {}, marks), "");
}

TEST(Sentinels, AreNamesThatSymbolsMayNotHave) {
  VocabularyOptions options = WithSentinels(2);
  options.user_defined_symbols = {"<extra_id_1>"};
  try {
    Train(options);
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("'<extra_id_1>' appears twice or is a special piece"));
  }
  options.user_defined_symbols = {"<extra_id_2>"};
  EXPECT_EQ(SentinelIds(*Vocabulary::FromBytes(Train(options), "test")).size(), 3);
}

}  // namespace
}  // namespace attend
