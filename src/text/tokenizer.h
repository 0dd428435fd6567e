// What is inside a Vocabulary: one implementation for each kind of vocabulary file.
#ifndef ATTEND_TEXT_TOKENIZER_H_
#define ATTEND_TEXT_TOKENIZER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/vocabulary.h"
#include "text/normalization.h"

namespace attend {

// What a token says by itself.
struct TokenText {
  // Without a space at its beginning; bytes as they are. Empty for what Decode gives no text for,
  // such as a special token or a tag of a language.
  std::string text;
  bool begins_word = false;
  bool bytes = false;  // it may be a part of a character
};

// Immutable; safe to use from many threads. Its functions are Vocabulary's. Lines are repaired
// (text/utf8.h), and ids are in the vocabulary.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  virtual std::vector<int32_t> Encode(std::string_view line) const = 0;
  virtual std::vector<int32_t> Sample(std::string_view line, double strength,
                                      uint64_t key) const = 0;
  virtual std::vector<std::string> UnknownTexts(std::string_view line) const = 0;
  // May hold LF, CR and NUL.
  virtual std::string Decode(std::span<const int32_t> ids) const = 0;
  virtual std::vector<int64_t> WordsOfLine(std::string_view line) const = 0;
  virtual std::vector<int64_t> WordsOfIds(std::span<const int32_t> ids) const = 0;

  virtual int64_t size() const = 0;
  virtual VocabularyType type() const = 0;
  virtual SpecialIds special_ids() const = 0;
  virtual LetterCase letter_case() const = 0;
  virtual std::string Piece(int32_t id) const = 0;
  virtual int32_t Id(std::string_view piece) const = 0;

  virtual TokenText TextOf(int32_t id) const = 0;
  // Whether tokens spell white space as any other text: the space before a word is a part of its
  // first token, and the end of a line is one.
  virtual bool SpellsWhiteSpace() const = 0;
  // The token between words where tokens do not tell that a word begins; -1: none.
  virtual int32_t WordSeparator() const = 0;
  // The token that hides another; -1: none.
  virtual int32_t mask_id() const = 0;
  // Ids of a line where kMaskToken (text/mask_token.h) hides a token. A masked language model has
  // read them so in training, where a token that has its word's space is hidden with it.
  virtual std::vector<int32_t> EncodeMasked(std::string_view line) const = 0;
};

// "unigram", "bpe", "word", "char", "wordpiece" or "byte_bpe".
std::string TypeName(VocabularyType type);

// The tokenizer of a vocabulary file's bytes. Throws Error(kInput) for what is none; `where` opens
// the message.
std::unique_ptr<const Tokenizer> ReadTokenizer(std::string_view bytes, const std::string& where);

// The word with the byte `at` of a text, or after it, or else the last one; -1 where there is none.
// The words end at `word_ends`.
int64_t WordAt(size_t at, const std::vector<size_t>& word_ends);

// The bytes LF, CR and NUL as spaces.
std::string OneLine(std::string text);

}  // namespace attend

#endif  // ATTEND_TEXT_TOKENIZER_H_
