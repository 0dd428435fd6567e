#include "text/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/error.h"
#include "text/sentencepiece_tokenizer.h"

namespace attend {

std::unique_ptr<const Tokenizer> ReadTokenizer(std::string_view bytes, const std::string& where) {
  if (bytes.empty()) {
    throw Error(ErrorKind::kInput,
                fmt::format("{}: the file is empty; expected a SentencePiece model", where));
  }
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
