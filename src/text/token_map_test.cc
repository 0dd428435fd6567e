#include "text/token_map.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "attend/error.h"
#include "text/utf8.h"
#include "text/vocabulary_fixture.h"

namespace attend {
namespace {

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7) bytes += static_cast<char>(value % 128 + 128);
  return bytes + static_cast<char>(value);
}

// As `attend import` writes it: the tokens of a model, and the places of pad, unk and eos.
std::string MapField(const std::vector<std::string>& tokens, uint64_t pad, uint64_t unk,
                     uint64_t eos, const std::vector<std::string>& added = {}) {
  std::string map;
  for (const std::string& token : tokens) map += "\x0A" + Varint(token.size()) + token;
  map += "\x10" + Varint(pad + 1) + "\x18" + Varint(unk + 1) + "\x28" + Varint(eos + 1);
  for (const std::string& token : added) map += "\x32" + Varint(token.size()) + token;
  return Varint(4200 << 3 | 2) + Varint(map.size()) + map;
}

TEST(TokenMap, TokensMayHaveIdsOfTheirOwn) {
  const std::string file = Train(SmallBpe());
  const auto plain = Vocabulary::FromBytes(file, "test");
  // The pieces the other way round, without two of them, and a language.
  std::vector<std::string> tokens = {"</s>", "<unk>", ">>de<<"};
  const std::vector<int32_t> house = plain->Encode("house"), das = plain->Encode("das");
  for (int32_t id = 59; id > 3; --id) {
    if (plain->Piece(id) != plain->Piece(das.front())) tokens.push_back(plain->Piece(id));
  }
  tokens.push_back("▁elsewhere");
  tokens.push_back("<pad>");
  const auto pad = static_cast<int32_t>(tokens.size() - 1);
  const auto mapped = Vocabulary::FromBytes(file + MapField(tokens, pad, 1, 0), "test");
  EXPECT_EQ(mapped->size(), pad + 1);
  EXPECT_EQ(mapped->special_ids(), (SpecialIds{.pad = pad, .unk = 1, .bos = -1, .eos = 0}));
  std::vector<int32_t> expected;
  for (const int32_t id : house) {
    expected.push_back(mapped->Id(plain->Piece(id)));
    EXPECT_EQ(mapped->Piece(expected.back()), plain->Piece(id));
  }
  EXPECT_EQ(mapped->Encode("house"), expected);
  EXPECT_EQ(mapped->Decode(expected), "house");
  EXPECT_EQ(mapped->Encode("das").front(), 1) << "a piece that is no token is unknown";
  std::string unknown = plain->Piece(das.front());
  Replace("\u2581", " ", &unknown);
  EXPECT_EQ(mapped->UnknownTexts("das").front(), unknown);

  std::vector<int32_t> with_language = expected;
  with_language.insert(with_language.begin(), 2);
  EXPECT_EQ(mapped->Encode(">>de<< house"), with_language);
  EXPECT_EQ(mapped->WordsOfLine(">>de<< house").front(), 0);
  EXPECT_EQ(mapped->WordsOfLine(">>de<< house").back(), 1);
  EXPECT_EQ(mapped->WordsOfLine(">>de<< house").size(), with_language.size());
  EXPECT_NE(mapped->Encode(">>fr<< house").front(), 2);

  std::vector<int32_t> framed = {pad};
  framed.insert(framed.end(), expected.begin(), expected.end());
  framed.insert(framed.end(), {pad - 1, 0});
  EXPECT_EQ(mapped->Decode(framed), "house elsewhere") << "no piece of SentencePiece's";
  EXPECT_EQ(mapped->WordsOfIds(framed).back(), 1);
}

TEST(TokenMap, AddedTokensStandInALineAsTheyAre) {
  const std::string file = Train(SmallBpe());
  const auto plain = Vocabulary::FromBytes(file, "test");
  std::vector<std::string> tokens = {"<pad>", "</s>", "<unk>"};
  for (int32_t id = 4; id < 60; ++id) tokens.push_back(plain->Piece(id));
  tokens.insert(tokens.end(), {"<extra_id_1>", "<extra_id_0>", "<unused>"});
  const auto mapped = Vocabulary::FromBytes(
      file + MapField(tokens, 0, 2, 1, {"<extra_id_1>", "<extra_id_0>"}), "test");
  const std::vector<int32_t> house = mapped->Encode("house");
  const auto around = [&](const std::vector<int32_t>& before, const std::vector<int32_t>& after) {
    std::vector<int32_t> ids = before;
    ids.insert(ids.end(), house.begin(), house.end());
    ids.insert(ids.end(), after.begin(), after.end());
    return ids;
  };
  EXPECT_EQ(mapped->Encode("<extra_id_1>house"), around({59}, {}));
  EXPECT_EQ(mapped->Encode(" <extra_id_0> house<extra_id_1> "), around({60}, {59}));
  EXPECT_EQ(mapped->Encode("<extra_id_1><extra_id_0>"), (std::vector<int32_t>{59, 60}));
  EXPECT_EQ(mapped->Decode(around({60}, {59})), "<extra_id_0> house<extra_id_1>");
  EXPECT_TRUE(mapped->UnknownTexts("<extra_id_0> house").empty());
  EXPECT_EQ(mapped->Sample("house <extra_id_0>", 0.0, 1).back(), 60);
  const std::vector<int64_t> words = mapped->WordsOfLine("house <extra_id_0> house");
  EXPECT_EQ(words.size(), 2 * house.size() + 1);
  EXPECT_EQ(words[house.size()], 1);
  EXPECT_EQ(words.back(), 2);
  const std::vector<int32_t> unused = mapped->Encode("<unused>");
  EXPECT_EQ(std::ranges::count(unused, 61), 0) << "no text gives other tokens than pieces";
}

TEST(TokenMap, TextThatNoPieceSpellsMayBeAToken) {
  const std::string file = Train(SmallBpe());
  const auto plain = Vocabulary::FromBytes(file, "test");
  std::vector<std::string> tokens = {"</s>", "<unk>"};
  for (int32_t id = 4; id < 60; ++id) tokens.push_back(plain->Piece(id));
  const auto first = static_cast<int32_t>(tokens.size());
  tokens.insert(tokens.end(), {"\u0416", "\u2603\u2603", "\u00D7"});
  const auto mapped = Vocabulary::FromBytes(file + MapField(tokens, first + 2, 1, 0), "test");
  EXPECT_EQ(plain->UnknownTexts("house\u0416").size(), 1);
  std::vector<int32_t> expected = mapped->Encode("house");
  expected.push_back(first);
  EXPECT_EQ(mapped->Encode("house\u0416"), expected);
  EXPECT_EQ(mapped->Sample("house\u0416", 0.0, 1).back(), first);
  EXPECT_EQ(mapped->Decode(expected), "house\u0416");
  EXPECT_TRUE(mapped->UnknownTexts("house\u0416").empty());
  EXPECT_EQ(mapped->WordsOfLine("house\u0416").size(), expected.size());
  EXPECT_EQ(mapped->Encode("\u2603\u2603").back(), first + 1);
  EXPECT_EQ(mapped->Encode("\u2603").back(), 1)
      << "a token is what SentencePiece leaves, as a whole";
  EXPECT_EQ(mapped->Encode("\u00D7").back(), 1) << "no text gives a control id";
}

TEST(TokenMap, RefusesAListOfTokensThatMakesNoSense) {
  const std::string file = Train(SmallBpe());
  const auto read = [&](const std::string& field) { Vocabulary::FromBytes(file + field, "test"); };
  EXPECT_THROW(read(MapField({"a", "b"}, 0, 2, 1)), Error);
  EXPECT_THROW(read(MapField({"a", "a"}, 0, 1, 1)), Error);
  EXPECT_THROW(read(MapField({}, 0, 0, 0)), Error);
  EXPECT_THROW(read(MapField({"a", "b"}, 0, 1, 1, {"c"})), Error);
  EXPECT_THROW(read(MapField({"a", "b", ""}, 0, 1, 1, {""})), Error);
  const std::string whole = MapField({"a", "b"}, 0, 1, 1, {"b"});
  for (size_t size = 1; size < whole.size(); ++size)
    EXPECT_THROW(read(whole.substr(0, size)), Error) << size;
}

}  // namespace
}  // namespace attend
