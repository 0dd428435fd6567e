#include "text/vocabulary_extension.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "attend/error.h"
#include "text/proto_fields.h"
#include "text/tokenizer_fixture.h"
#include "text/vocabulary_trainer.h"

namespace attend {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kNewTokens = {">>de<<", "Quokka", "\u0E44\u0E17\u0E22"};
const std::vector<std::string> kOldLines = {"the house is old", "a new house", "", "das alte Haus",
                                            "Sue sees a quokk"};

std::shared_ptr<const Vocabulary> Trained(VocabularyType type, LetterCase letter_case) {
  VocabularyOptions options;
  options.type = type;
  options.letter_case = letter_case;
  options.size = type == VocabularyType::kUnigram ? 25 : 45;
  options.byte_fallback = type == VocabularyType::kBpe;
  if (options.byte_fallback) options.size += 256;
  size_t next = 0;
  const auto line = [&](std::string* to) {
    if (next == kOldLines.size()) return false;
    *to = kOldLines[next++];
    return true;
  };
  return Vocabulary::FromBytes(TrainVocabulary(line, options, 1, NoLog()), "test");
}

// A token list of its own, as models of Marian have: here SentencePiece's pieces backwards.
std::shared_ptr<const Vocabulary> Mapped() {
  const auto plain = Trained(VocabularyType::kBpe, LetterCase::kKeep);
  std::string list;
  for (auto id = static_cast<int32_t>(plain->size() - 1); id >= 0; --id)
    list += ProtoField(1, plain->Piece(id));
  const uint64_t last = plain->size();
  for (const auto& [field, id] :
       {std::pair{3, plain->special_ids().unk}, {5, plain->special_ids().eos}})
    list += ProtoField(field, last - static_cast<uint64_t>(id));
  return Vocabulary::FromBytes(plain->bytes() + ProtoField(4200, list), "test");
}

// A vocabulary of each kind.
const std::vector<std::shared_ptr<const Vocabulary>>& Kinds() {
  static const std::vector<std::shared_ptr<const Vocabulary>> kinds = {
      Trained(VocabularyType::kUnigram, LetterCase::kKeep),
      Trained(VocabularyType::kBpe, LetterCase::kKeep),
      Trained(VocabularyType::kBpe, LetterCase::kFactor),
      Trained(VocabularyType::kChar, LetterCase::kKeep),
      Trained(VocabularyType::kWord, LetterCase::kKeep),
      Mapped(),
      VocabularyFrom(WordPieceFile()),
      VocabularyFrom(ByteBpeFile())};
  return kinds;
}

TEST(VocabularyExtension, LeavesAllElseAsItWas) {
  for (const auto& before : Kinds()) {
    const auto now = Extend(*before, kNewTokens, "test");
    EXPECT_EQ(now->size(), before->size() + 3);
    EXPECT_EQ(now->type(), before->type());
    EXPECT_EQ(now->special_ids(), before->special_ids());
    for (int32_t id = 0; id < before->size(); ++id) EXPECT_EQ(now->Piece(id), before->Piece(id));
    for (const std::string& line : kOldLines) {
      EXPECT_EQ(now->Encode(line), before->Encode(line)) << line;
      EXPECT_EQ(now->Decode(now->Encode(line)), before->Decode(before->Encode(line)));
    }
  }
}

TEST(VocabularyExtension, MakesOneTokenWhereverATextHasIt) {
  const std::string line = ">>de<< the Quokka is \u0E44\u0E17\u0E22";
  for (const auto& before : Kinds()) {
    const auto now = Extend(*before, kNewTokens, "test");
    const std::vector<int32_t> ids = now->Encode(line);
    for (int32_t i = 0; i < 3; ++i) {
      const auto id = static_cast<int32_t>(before->size()) + i;
      EXPECT_EQ(std::ranges::count(ids, id), 1) << kNewTokens[i];
      EXPECT_EQ(now->Decode({&id, 1}), kNewTokens[i]);
      EXPECT_EQ(IdOfToken(*now, kNewTokens[i]), id);
      EXPECT_FALSE(IdOfToken(*before, kNewTokens[i]).has_value());
      EXPECT_EQ(now->Decode(now->Encode(kNewTokens[i])), kNewTokens[i]);
    }
    if (now->type() != VocabularyType::kWordPiece) {  // which drops what it does not know
      EXPECT_EQ(now->Decode(ids), line);
      EXPECT_EQ(now->Decode(now->Encode("the house >>de<<")), "the house >>de<<");
    }
  }
}

TEST(VocabularyExtension, NeverCutsATokenWhereCutsAreDrawn) {
  for (const size_t kind : {0, 1}) {  // unigram and BPE
    const auto& before = Kinds()[kind];
    const auto now = Extend(*before, kNewTokens, "test");
    const auto quokka = static_cast<int32_t>(before->size()) + 1;
    for (uint64_t key = 0; key < 200; ++key) {
      const std::vector<int32_t> ids = now->Sample("the Quokka is old", 0.3, key);
      EXPECT_EQ(std::ranges::count(ids, quokka), 1);
    }
  }
}

TEST(VocabularyExtension, GoesOnFromAnExtendedOne) {
  for (const auto& before : Kinds()) {
    const auto once = Extend(*before, std::vector<std::string>{"abcd"}, "test");
    const auto twice = Extend(*once, std::vector<std::string>{"abcdef"}, "test");
    const std::vector<int32_t> ids = twice->Encode("abcdef abcd");
    EXPECT_EQ(std::ranges::count(ids, before->size()), 1);
    EXPECT_EQ(std::ranges::count(ids, before->size() + 1), 1);
  }
}

TEST(VocabularyExtension, SaysWhatIsNoNewToken) {
  const auto message = [](const Vocabulary& vocabulary, const std::vector<std::string>& tokens) {
    try {
      Extend(vocabulary, tokens, "the vocabulary");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      return std::string(error.what());
    }
    return std::string();
  };
  const auto& bpe = Kinds()[1];
  EXPECT_THAT(message(*bpe, {""}), HasSubstr("a new token is empty"));
  for (const char* token : {"a b", " ab", "ab\t", "a\u00a0b", "\u2581ab", "a\nb"})
    EXPECT_THAT(message(*bpe, {token}), HasSubstr("has white space"));
  EXPECT_THAT(message(*bpe, {"\xff"}), HasSubstr("is not UTF-8"));
  EXPECT_THAT(message(*bpe, {"xyz", "xyz"}), HasSubstr("'xyz' is given twice"));
  EXPECT_THAT(message(*bpe, {"o"}), HasSubstr("'o' is in the vocabulary already, with the id"));
  EXPECT_THAT(message(*bpe, {"<unk>"}), HasSubstr("already"));
  const auto& words = Kinds()[4];
  EXPECT_THAT(message(*words, {"house"}), HasSubstr("already"));
  EXPECT_THAT(message(*words, {"\uFF31uokka"}),  // NFKC makes it Quokka
              HasSubstr("'\uFF31uokka' would never be there"));
  EXPECT_EQ(message(*words, {"Quokka"}), "");
  const auto bytes = VocabularyFrom(ByteBpeFile());
  EXPECT_THAT(message(*bytes, {"the"}), HasSubstr("already"));
  EXPECT_THAT(message(*bytes, {"s\u00FC\u00DF"}),
              HasSubstr("would write the token 's\u00FC\u00DF' as"));
}

}  // namespace
}  // namespace attend
