#include "text/wordpiece.h"

#include <gmock/gmock.h>

#include "attend/error.h"

namespace attend {
namespace {

using testing::ElementsAre;

const std::vector<std::string> kTokens = {"[UNK]", "un", "##aff", "##able", "##a", "u", "##", "é"};

std::vector<int32_t> CutWord(const WordPiece& model, std::string_view word) {
  std::vector<PlacedToken> tokens;
  model.Encode(word, &tokens);
  std::vector<int32_t> ids;
  for (const PlacedToken& token : tokens) ids.push_back(token.id);
  return ids;
}

TEST(WordPiece, TakesTheLongestTokens) {
  const WordPiece model(kTokens, {0, "##", 10});
  EXPECT_THAT(CutWord(model, "unaffable"), ElementsAre(1, 2, 3));
  EXPECT_THAT(CutWord(model, "uaa"), ElementsAre(5, 4, 4));
  EXPECT_THAT(CutWord(model, "##a"), ElementsAre(4)) << "a text that looks like a token";
  EXPECT_THAT(CutWord(model, "unb"), ElementsAre(0));
  EXPECT_THAT(CutWord(model, "aff"), ElementsAre(0)) << "only inside words";
  std::vector<PlacedToken> tokens = {{7, 0}};
  model.Encode("unax", &tokens);
  EXPECT_EQ(tokens.size(), 2u) << "the unknown word is one token";
}

TEST(WordPiece, LongWordsAreUnknown) {
  const WordPiece model(kTokens, {0, "##", 3});
  EXPECT_THAT(CutWord(model, "uaa"), ElementsAre(5, 4, 4));
  EXPECT_THAT(CutWord(model, "uaaa"), ElementsAre(0));
  EXPECT_THAT(CutWord(model, "éaa"), ElementsAre(7, 4, 4)) << "characters, not bytes";
  EXPECT_THAT(model.Unknown("uaaa"), ElementsAre("uaaa"));
  EXPECT_THAT(model.Unknown("uaa"), ElementsAre());
}

TEST(WordPiece, HasOneCutOnly) {
  const WordPiece model(kTokens, {0, "##", 3});
  Random random{1};
  std::vector<PlacedToken> tokens;
  EXPECT_THROW(model.Sample("u", 0.1, &random, &tokens), Error);
}

}  // namespace
}  // namespace attend
