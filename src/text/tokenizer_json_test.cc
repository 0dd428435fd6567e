#include "text/tokenizer_json.h"

#include <gmock/gmock.h>

#include <map>

#include "attend/error.h"
#include "attend/vocabulary.h"
#include "base/json.h"
#include "text/mask_token.h"
#include "text/tokenizer.h"
#include "text/tokenizer_fixture.h"
#include "text/word_ids.h"

namespace attend {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string RefusalOf(const std::string& bytes) {
  try {
    Vocabulary::FromBytes(bytes, "some.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_THAT(error.what(), testing::StartsWith("some.json:"));
    return error.what();
  }
  return "";
}

// What is said of a file in which `path` is another value.
std::string RefusalWith(Json file, const std::string& path, const Json& value) {
  file[Json::json_pointer(path)] = value;
  return RefusalOf(file.dump());
}

TEST(TokenizerJson, ReadsWordPiece) {
  const auto vocabulary = VocabularyFrom(WordPieceFile());
  EXPECT_EQ(vocabulary->type(), VocabularyType::kWordPiece);
  EXPECT_EQ(vocabulary->size(), 16);
  EXPECT_EQ(vocabulary->special_ids(), (SpecialIds{.pad = 0, .unk = 1, .bos = 2, .eos = 3}));
  EXPECT_EQ(vocabulary->tokenizer().letter_case(), LetterCase::kLower);
  EXPECT_EQ(vocabulary->Piece(7), "##s");
  EXPECT_EQ(vocabulary->Id("##s"), 7);
  EXPECT_EQ(vocabulary->Id("no such"), 1);
  EXPECT_THAT(vocabulary->Encode("The HOUSES, [MASK]!"), ElementsAre(5, 6, 7, 8, 4, 1));
  EXPECT_THAT(vocabulary->UnknownTexts("The dog, Katze"), ElementsAre("dog", "katze"));
  EXPECT_EQ(vocabulary->Decode(std::vector<int32_t>{2, 5, 6, 7, 8, 4, 6, 3}), "the houses, house");
  EXPECT_EQ(vocabulary->Decode(std::vector<int32_t>{}), "");
  EXPECT_THROW(vocabulary->Decode(std::vector<int32_t>{16}), Error);
  EXPECT_THROW(vocabulary->Piece(-1), Error);
  EXPECT_THROW(vocabulary->Sample("the", 0.1, 1), Error);
}

TEST(TokenizerJson, SaysWhatATokenIsByItself) {
  Json file = WordPieceFile();
  const auto words = VocabularyFrom(file);
  EXPECT_TRUE(words->tokenizer().TextOf(6).begins_word);
  EXPECT_FALSE(words->tokenizer().TextOf(7).begins_word);
  EXPECT_EQ(words->tokenizer().TextOf(6).text, "house");
  EXPECT_EQ(words->tokenizer().TextOf(7).text, "##s");
  EXPECT_EQ(words->tokenizer().TextOf(4).text, "");  // [MASK]
  EXPECT_FALSE(words->tokenizer().SpellsWhiteSpace());
  // The file says what goes on with a word.
  file["model"]["continuing_subword_prefix"] = "e";
  EXPECT_TRUE(VocabularyFrom(file)->tokenizer().TextOf(7).begins_word);
  EXPECT_FALSE(VocabularyFrom(file)->tokenizer().TextOf(10).begins_word);

  const auto bytes = VocabularyFrom(ByteBpeFile());
  const auto shown = [&](const char* piece) { return bytes->tokenizer().TextOf(bytes->Id(piece)); };
  EXPECT_TRUE(shown("\u0120the").begins_word);
  EXPECT_EQ(shown("\u0120the").text, "the");
  EXPECT_FALSE(shown("a").begins_word || shown("a").bytes);
  EXPECT_EQ(shown("\u010A").text, "\n");
  EXPECT_EQ(shown("\u00C3").text, "\xC3");
  EXPECT_TRUE(shown("\u00C3").bytes);
  EXPECT_EQ(shown("<|endoftext|>").text, "");
  EXPECT_TRUE(bytes->tokenizer().SpellsWhiteSpace());
}

TEST(TokenizerJson, ReadsByteBpe) {
  const auto vocabulary = VocabularyFrom(ByteBpeFile());
  EXPECT_EQ(vocabulary->type(), VocabularyType::kByteBpe);
  EXPECT_EQ(vocabulary->special_ids(), (SpecialIds{.pad = -1, .unk = -1, .bos = 261, .eos = 261}));
  EXPECT_EQ(vocabulary->tokenizer().letter_case(), LetterCase::kKeep);
  const int32_t a = vocabulary->Id("a"), the = vocabulary->Id("\u0120the");
  EXPECT_THAT(vocabulary->Encode(" the a"), ElementsAre(the, vocabulary->Id("\u0120"), a));
  EXPECT_THAT(vocabulary->Encode("a<|endoftext|>a"), ElementsAre(a, 261, a));
  EXPECT_EQ(vocabulary->Decode(std::vector<int32_t>{the, 261, a, vocabulary->Id("\u010A"), a}),
            " thea a");
  EXPECT_EQ(vocabulary->Decode(std::vector<int32_t>{a, vocabulary->Id("\u00C3")}), "a\uFFFD");
  EXPECT_EQ(vocabulary->Decode(vocabulary->Encode("\u4E2D \u00E9 \U0001F600")),
            "\u4E2D \u00E9 \U0001F600");
  int64_t malformed = 0;
  EXPECT_EQ(vocabulary->Decode(vocabulary->Encode("x\xFF", &malformed)), "x\uFFFD");
  EXPECT_EQ(malformed, 1);
  EXPECT_EQ(vocabulary->Decode(vocabulary->Sample(" the the", 0.5, 3)), " the the");
  EXPECT_EQ(vocabulary->Id("no such"), -1);
}

TEST(TokenizerJson, KnowsOldFilesAndPairsOfMerges) {
  Json file = ByteBpeFile();
  const auto expected = VocabularyFrom(file)->Encode(" the then");
  file["model"].erase("type");
  file["model"].erase("ignore_merges");
  file["model"]["end_of_word_suffix"] = "";
  for (Json& merge : file["model"]["merges"]) {
    const auto text = merge.get<std::string>();
    merge = {text.substr(0, text.find(' ')), text.substr(text.find(' ') + 1)};
  }
  EXPECT_EQ(VocabularyFrom(file)->Encode(" the then"), expected);
  Json old = WordPieceFile();
  old["model"].erase("type");
  EXPECT_EQ(VocabularyFrom(old)->type(), VocabularyType::kWordPiece);
}

TEST(TokenizerJson, TheFileSaysWhichTokensStandAroundAText) {
  Json file = WordPieceFile();
  file["post_processor"] = {{"type", "BertProcessing"}, {"sep", {"the", 5}}, {"cls", {"house", 6}}};
  EXPECT_EQ(VocabularyFrom(file)->special_ids().bos, 6);
  EXPECT_EQ(VocabularyFrom(file)->special_ids().eos, 5);
  file["post_processor"] = nullptr;
  EXPECT_EQ(VocabularyFrom(file)->special_ids().bos, 2);
  EXPECT_EQ(VocabularyFrom(file)->special_ids().eos, 3);
  file["padding"] = {{"strategy", "BatchLongest"},
                     {"direction", "Right"},
                     {"pad_to_multiple_of", nullptr},
                     {"pad_id", 5},
                     {"pad_type_id", 0},
                     {"pad_token", "the"}};
  EXPECT_EQ(VocabularyFrom(file)->special_ids().pad, 5);
  EXPECT_THAT(RefusalWith(file, "/padding/pad_id", 6), HasSubstr("'the' has id 6; expected 5"));
}

TEST(TokenizerJson, AddedTokensStandAsTheyAre) {
  Json file = WordPieceFile();
  const auto add = [&](const std::string& content, const Json& flags) {
    Json token = {{"id", 11 + file["added_tokens"].size()}, {"content", content}};
    for (const char* flag : {"single_word", "lstrip", "rstrip", "normalized", "special"})
      token[flag] = false;
    token.update(flags);
    file["added_tokens"].push_back(token);
  };
  add("The House", {{"normalized", true}});          // 16
  add("<l>", {{"lstrip", true}, {"rstrip", true}});  // 17
  add("cat", {{"single_word", true}});               // 18
  const auto vocabulary = VocabularyFrom(file);
  EXPECT_THAT(vocabulary->Encode("THE HOUSEs"), ElementsAre(16, 1)) << "s is no token";
  EXPECT_THAT(vocabulary->Encode("the <l>  the"), ElementsAre(5, 17, 5));
  EXPECT_THAT(vocabulary->Encode("cat,cats"), ElementsAre(18, 8, 1));
  EXPECT_EQ(vocabulary->Decode(std::vector<int32_t>{18, 16}), "cat the house");
  add("the HOUSE", {{"normalized", true}});
  EXPECT_THAT(RefusalOf(file.dump()), HasSubstr("that no other token has after the normalizer"));
}

TEST(TokenizerJson, WordsAreThoseOfTheLine) {
  const auto bert = VocabularyFrom(WordPieceFile());
  const std::string line = "  The\t\u00C9houses  [MASK]\u4E2Dthe,the \u0301";
  const std::vector<int64_t> words = bert->WordsOfLine(line);
  ASSERT_EQ(words.size(), bert->Encode(line).size());
  EXPECT_THAT(words, ElementsAre(0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2));
  EXPECT_THAT(bert->WordsOfLine(""), ElementsAre());
  EXPECT_THAT(bert->WordsOfIds(std::vector<int32_t>{2, 5, 6, 7, 8, 6, 3}),
              ElementsAre(0, 0, 1, 1, 1, 2, 2));
  EXPECT_THAT(bert->WordsOfIds(std::vector<int32_t>{2, 3}), ElementsAre(0, 0));

  Json file = ByteBpeFile();
  file["pre_tokenizer"]["add_prefix_space"] = true;
  const auto bytes = VocabularyFrom(file);
  const std::vector<int64_t> of_bytes = bytes->WordsOfLine("the a\u00E9  b ");
  ASSERT_EQ(of_bytes.size(), bytes->Encode("the a\u00E9  b ").size());
  //                                      the  _a   \u00E9    _   _b  _
  EXPECT_THAT(of_bytes, ElementsAre(0, 1, 1, 1, 1, 2, 2, 2, 2));
  EXPECT_EQ(bytes->WordsOfIds(bytes->Encode("the a\u00E9 b")), bytes->WordsOfLine("the a\u00E9 b"));
  EXPECT_EQ(bytes->WordsOfLine(" ").back(), -1);
}

TEST(TokenizerJson, AnotherSpellingOfTheMaskIsKnown) {
  Json file = ByteBpeFile();
  file["added_tokens"].push_back({{"id", 262},
                                  {"content", "<mask>"},
                                  {"single_word", false},
                                  {"lstrip", true},
                                  {"rstrip", false},
                                  {"normalized", false},
                                  {"special", true}});
  const auto vocabulary = VocabularyFrom(file);
  EXPECT_EQ(MaskId(*vocabulary), 262);
  const int32_t the = vocabulary->Id("\u0120the");
  EXPECT_THAT(EncodeWithMasks(*vocabulary, " the [MASK] the", 9).ids,
              ElementsAre(261, the, 262, the, 261));
  EXPECT_EQ(DecodeWithMasks(*vocabulary, std::vector<int32_t>{the, 262, the}), "the [MASK] the");
  EXPECT_EQ(MaskId(*VocabularyFrom(ByteBpeFile())), -1);
  EXPECT_EQ(MaskId(*VocabularyFrom(WordPieceFile())), 4);
}

TEST(TokenizerJson, NamesWhatItDoesNotKnow) {
  const Json bert = WordPieceFile(), gpt2 = ByteBpeFile();
  EXPECT_THAT(RefusalWith(bert, "/extra", 1), HasSubstr("extra is not known; expected version"));
  EXPECT_THAT(RefusalWith(bert, "/version", "2.0"), HasSubstr("version is \"2.0\"; expected 1.0"));
  EXPECT_THAT(RefusalWith(bert, "/model/type", "Unigram"),
              HasSubstr("model.type is \"Unigram\"; expected WordPiece or BPE"));
  EXPECT_THAT(RefusalWith(bert, "/normalizer/type", "Precompiled"),
              HasSubstr("normalizer.type is \"Precompiled\""));
  EXPECT_THAT(RefusalWith(bert, "/normalizer/odd", true), HasSubstr("normalizer.odd is not known"));
  EXPECT_THAT(RefusalWith(bert, "/normalizer/lowercase", 1),
              HasSubstr("normalizer.lowercase is 1; expected true or false"));
  EXPECT_THAT(
      RefusalWith(bert, "/normalizer",
                  {{"type", "Sequence"}, {"normalizers", {{{"type", "NFC"}}, {{"type", "X"}}}}}),
      HasSubstr("normalizer.normalizers[1].type is \"X\""));
  EXPECT_THAT(RefusalWith(bert, "/pre_tokenizer", {{"type", "Metaspace"}}),
              HasSubstr("pre_tokenizer.type is \"Metaspace\""));
  EXPECT_THAT(RefusalWith(bert, "/pre_tokenizer", gpt2["pre_tokenizer"]),
              HasSubstr("for a model of type BPE only"));
  EXPECT_THAT(RefusalWith(gpt2, "/pre_tokenizer", nullptr), HasSubstr("not ByteLevel"));
  EXPECT_THAT(RefusalWith(bert, "/decoder/type", "CTC"), HasSubstr("decoder.type is \"CTC\""));
  EXPECT_THAT(RefusalWith(bert, "/post_processor/type", "Own"),
              HasSubstr("post_processor.type is \"Own\""));
  EXPECT_THAT(RefusalWith(bert, "/truncation", {{"max", 1}}), HasSubstr("truncation.max is not"));
  for (const auto& [path, value] : std::map<std::string, Json>{{"dropout", 0.1},
                                                               {"byte_fallback", true},
                                                               {"continuing_subword_prefix", "##"},
                                                               {"end_of_word_suffix", "</w>"},
                                                               {"cache", 1}}) {
    EXPECT_THAT(RefusalWith(gpt2, "/model/" + path, value), HasSubstr("model." + path)) << path;
  }
}

TEST(TokenizerJson, RefusesTemplatesOfMoreThanOneTokenOnASide) {
  Json file = WordPieceFile();
  Json& single = file["post_processor"]["single"];
  single.insert(single.begin(), single[0]);
  EXPECT_THAT(RefusalOf(file.dump()), HasSubstr("with at most one token before it"));
  file["post_processor"]["single"] = Json::array();
  EXPECT_THAT(RefusalOf(file.dump()), HasSubstr("expected the text, sequence A"));
  EXPECT_THAT(RefusalWith(WordPieceFile(), "/post_processor/special_tokens/[CLS]/ids", {1, 2}),
              HasSubstr("ids is [1,2]; expected one id"));
  EXPECT_THAT(RefusalWith(WordPieceFile(), "/post_processor/special_tokens/[CLS]/ids/0", 5),
              HasSubstr("post_processor says that '[CLS]' has id 5; expected 2"));
}

TEST(TokenizerJson, RefusesIdsThatMakeNoSense) {
  const Json bert = WordPieceFile(), gpt2 = ByteBpeFile();
  EXPECT_THAT(RefusalWith(bert, "/model/vocab/the", 6), HasSubstr("have the same id 6"));
  for (const Json& id : {Json(99), Json(-1), Json(1.5), Json("5"), Json(1e30), Json(nullptr)})
    EXPECT_THAT(RefusalWith(bert, "/model/vocab/the", id), HasSubstr("the id of 'the' is")) << id;
  EXPECT_THAT(RefusalWith(bert, "/model/vocab", Json::object()), HasSubstr("has 0 tokens"));
  EXPECT_THAT(RefusalWith(bert, "/model/vocab", 5), HasSubstr("model.vocab is 5"));
  EXPECT_THAT(RefusalWith(bert, "/added_tokens/0/content", std::string(5000, 'a')),
              HasSubstr("has 5000 bytes; expected at most 4096"));
  EXPECT_THAT(RefusalWith(bert, "/model/unk_token", "none"), HasSubstr("model.unk_token is"));
  EXPECT_THAT(RefusalWith(bert, "/added_tokens/0/id", 1), HasSubstr("added_tokens[0].id is 1"));
  EXPECT_THAT(RefusalWith(bert, "/added_tokens/1", bert["added_tokens"][0]),
              HasSubstr("each token once"));
  EXPECT_THAT(RefusalWith(bert, "/added_tokens/0/content", ""), HasSubstr("added_tokens[0]."));
  EXPECT_THAT(RefusalWith(gpt2, "/model/merges/0", "t zz"),
              HasSubstr("model.merges[0] needs the token 'zz'"));
  EXPECT_THAT(RefusalWith(gpt2, "/model/merges/0", "t t"), HasSubstr("needs the token 'tt'"));
  for (const Json& merge : {Json("th"), Json("t h e"), Json({"t"}), Json({"t", 1}), Json(1)})
    EXPECT_THAT(RefusalWith(gpt2, "/model/merges/0", merge), HasSubstr("expected two tokens"));
  EXPECT_THAT(RefusalWith(gpt2, "/added_tokens", Json::array()), HasSubstr("no token ends a text"));
}

TEST(TokenizerJson, RefusesWhatIsNotWhole) {
  const std::string whole = WordPieceFile().dump();
  for (size_t size = 1; size < whole.size(); size += 7)
    EXPECT_NE(RefusalOf(whole.substr(0, size)), "");
  std::string deep = "{\"normalizer\":";
  for (int i = 0; i < 1000; ++i) deep += "{\"type\":\"Sequence\",\"normalizers\":[";
  EXPECT_THAT(RefusalOf(deep), HasSubstr("nested deeper"));
  EXPECT_THAT(RefusalOf(" \n{}"), HasSubstr("model is missing"));
  Json steps = Json::array();
  for (int i = 0; i < 100; ++i) steps.push_back({{"type", "WhitespaceSplit"}});
  EXPECT_THAT(RefusalWith(WordPieceFile(), "/pre_tokenizer",
                          {{"type", "Sequence"}, {"pretokenizers", steps}}),
              HasSubstr("has 100 steps"));
  EXPECT_THAT(RefusalOf("{\"model\":{\"vocab\":{\"a\":0,\"a\":1}}}"), HasSubstr("appears twice"));
}

}  // namespace
}  // namespace attend
