// Divides text into the words that a tokenizer's model cuts: what Hugging Face's tokenizers call
// pre-tokenization.
#ifndef ATTEND_TEXT_WORD_SPLITTER_H_
#define ATTEND_TEXT_WORD_SPLITTER_H_

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace attend {

// Characters are those of text/tokenizer_characters.h.
enum class SplitKind {
  kBert,             // at white space, which is left out; a punctuation character is a word
  kWhitespace,       // \w+|[^\w\s]+
  kWhitespaceSplit,  // at white space, which is left out
  kByteLevel,        // as GPT-2 does; a space goes with the word after it
};

struct SplitStep {
  SplitKind kind = SplitKind::kWhitespaceSplit;
  // Of kByteLevel:
  bool add_prefix_space = false;  // a text that does not begin with a space gets one
  bool use_regex = true;          // otherwise the text stays whole
};

// `begin` is where the word begins in the text. A word may begin with a space that is not in the
// text; then that is where the space would stand, for the first word -1.
using WordVisitor = std::function<void(std::string_view word, int64_t begin)>;

// Each step divides what the one before gave; without steps the text is one word. No word is empty.
void SplitWords(const std::vector<SplitStep>& steps, std::string_view text,
                const WordVisitor& visit);

}  // namespace attend

#endif  // ATTEND_TEXT_WORD_SPLITTER_H_
