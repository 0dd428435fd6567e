// Texts as ids, of a length that a model can read at once: words in parts, or a text's beginning.
#ifndef ATTEND_TEXT_WORD_IDS_H_
#define ATTEND_TEXT_WORD_IDS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attend/vocabulary.h"

namespace attend {

struct WordPart {
  int64_t first_word = 0;             // of the sentence
  std::vector<int32_t> ids;           // bos, the tokens of the words, eos
  std::vector<int32_t> first_tokens;  // in `ids`: where the first token of each word stands
};

// Each word is encoded by itself; one without a token is the unknown token, or eos where there is
// none. Where tokens are characters, which do not tell where a word begins, the token of a space
// stands between words. A part takes as many whole words as have at most `max_tokens` tokens; of a
// word with more its first ones. At least one part. `malformed` is as in Vocabulary::Encode.
// Precondition: max_tokens is at least 1.
std::vector<WordPart> EncodeWords(const Vocabulary& vocabulary, std::span<const std::string> words,
                                  int64_t max_tokens, int64_t* malformed = nullptr);

// A sentence as a whole, and where its words stand.
struct SentenceIds {
  std::vector<int32_t> ids;  // bos, the tokens of the words, eos
  std::vector<int32_t>
      words;          // where the first token of each word stands in `ids`, and its last id
  bool whole = true;  // false: it has more tokens, which are left out with their words
};
// As EncodeWords' first part.
SentenceIds EncodeSentence(const Vocabulary& vocabulary, std::span<const std::string> words,
                           int64_t max_tokens, int64_t* malformed = nullptr);

struct TextIds {
  std::vector<int32_t> ids;  // bos, the tokens of the text, eos
  bool cut = false;
};

// A text as a whole, or its first `max_tokens` tokens.
TextIds EncodeCut(const Vocabulary& vocabulary, const std::string& text, int64_t max_tokens,
                  int64_t* malformed = nullptr);

}  // namespace attend

#endif  // ATTEND_TEXT_WORD_IDS_H_
