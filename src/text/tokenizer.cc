#include "text/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/error.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/subword_tokenizer.h"
#include "text/tokenizer_json.h"

namespace attend {

std::string TypeName(VocabularyType type) {
  switch (type) {
    case VocabularyType::kUnigram:
      return "unigram";
    case VocabularyType::kBpe:
      return "bpe";
    case VocabularyType::kWord:
      return "word";
    case VocabularyType::kChar:
      return "char";
    case VocabularyType::kWordPiece:
      return "wordpiece";
    case VocabularyType::kByteBpe:
      return "byte_bpe";
  }
  throw Error(ErrorKind::kRuntime, "no such type of vocabulary");
}

std::unique_ptr<const Tokenizer> ReadTokenizer(std::string_view bytes, const std::string& where) {
  if (bytes.empty()) {
    throw Error(ErrorKind::kInput,
                fmt::format("{}: the file is empty; expected a SentencePiece model or a "
                            "tokenizer.json",
                            where));
  }
  if (IsTokenizerJson(bytes))
    return std::make_unique<SubwordTokenizer>(ReadTokenizerJson(bytes, where));
  return ReadSentencePiece(bytes, where);
}

int64_t WordAt(size_t at, const std::vector<size_t>& word_ends) {
  const auto end = std::upper_bound(word_ends.begin(), word_ends.end(), at);
  return std::min<int64_t>(end - word_ends.begin(), std::ssize(word_ends) - 1);
}

std::string OneLine(std::string text) {
  constexpr std::string_view kEnds("\n\r\0", 3);
  std::replace_if(
      text.begin(), text.end(), [&](char c) { return kEnds.find(c) != kEnds.npos; }, ' ');
  return text;
}

}  // namespace attend
