#include "text/vocabulary_extension.h"

#include <fmt/format.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <set>
#include <vector>

#include "attend/error.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "text/normalization.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/utf8.h"

namespace attend {
namespace {

[[noreturn]] void Refuse(const std::string& message) { throw Error(ErrorKind::kUsage, message); }

// As the vocabulary spells it.
std::string PieceOf(const Vocabulary& vocabulary, const std::string& token) {
  return vocabulary.type() == VocabularyType::kWord ? std::string(kSpaceSign) + token : token;
}

void CheckToken(const Vocabulary& vocabulary, const std::string& token, const std::string& where) {
  if (token.empty()) Refuse("a new token is empty, expected a text");
  if (!IsValidUtf8(token)) Refuse(fmt::format("the token '{}' is not UTF-8", Excerpt(token)));
  for (const char32_t character : CodePoints(token)) {
    const auto code = static_cast<UChar32>(character);
    if (u_isUWhiteSpace(code) || u_iscntrl(code) || character == 0x2581)
      Refuse(
          fmt::format("the token '{}' has white space, expected a text without", Excerpt(token)));
  }
  const int32_t unk = static_cast<int32_t>(vocabulary.special_ids().unk);
  for (const std::string& piece : {token, PieceOf(vocabulary, token)}) {
    const int32_t id = vocabulary.Id(piece);
    if (id == unk && (unk < 0 || vocabulary.Piece(unk) != piece)) continue;
    Refuse(fmt::format("the token '{}' is in {} already, with the id {}; leave it out",
                       Excerpt(token), where, id));
  }
}

// An added token of a tokenizer.json is looked for before a text is normalized and cut.
std::string ExtendedJson(const Vocabulary& vocabulary, std::span<const std::string> tokens,
                         const std::string& where) {
  SortedJson file = ParseSortedJson(vocabulary.bytes(), where);
  int64_t id = vocabulary.size();
  for (const std::string& token : tokens) {
    file["added_tokens"].push_back({{"id", id++},
                                    {"content", token},
                                    {"single_word", false},
                                    {"lstrip", false},
                                    {"rstrip", false},
                                    {"normalized", false},
                                    {"special", false}});
  }
  return file.dump();
}

// The token is one, and all others are as they were.
void CheckExtended(const Vocabulary& before, const Vocabulary& now,
                   std::span<const std::string> tokens) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto id = static_cast<int32_t>(before.size() + static_cast<int64_t>(i));
    if (std::ranges::count(now.Encode(tokens[i]), id) != 1) {
      Refuse(
          fmt::format("the vocabulary changes text before it cuts it, so that the token '{}' "
                      "would never be there; give it as the vocabulary has text: lower-cased, "
                      "normalized",
                      Excerpt(tokens[i])));
    }
    if (now.Decode({&id, 1}) == tokens[i]) continue;
    Refuse(
        fmt::format("the vocabulary would write the token '{}' as '{}': its tokens spell bytes "
                    "by letters such as those; choose letters of ASCII",
                    Excerpt(tokens[i]), Excerpt(now.Decode({&id, 1}))));
  }
}

}  // namespace

std::optional<int32_t> IdOfToken(const Vocabulary& vocabulary, const std::string& token) {
  const int32_t id = vocabulary.Id(PieceOf(vocabulary, token));
  if (id == vocabulary.special_ids().unk) return std::nullopt;
  return id;
}

std::shared_ptr<const Vocabulary> Extend(const Vocabulary& vocabulary,
                                         std::span<const std::string> tokens,
                                         const std::string& where) {
  std::set<std::string> seen;
  for (const std::string& token : tokens) {
    CheckToken(vocabulary, token, where);
    if (!seen.insert(token).second)
      Refuse(fmt::format("the token '{}' is given twice, expected each once", Excerpt(token)));
  }
  const bool json = vocabulary.type() >= VocabularyType::kWordPiece;
  std::vector<std::string> pieces;
  for (const std::string& token : tokens) pieces.push_back(PieceOf(vocabulary, token));
  const auto extended = Vocabulary::FromBytes(
      json ? ExtendedJson(vocabulary, tokens, where)
           : ExtendedSentencePiece(vocabulary.bytes(), pieces,
                                   vocabulary.type() != VocabularyType::kWord, where),
      where);
  CheckExtended(vocabulary, *extended, tokens);
  return extended;
}

}  // namespace attend
