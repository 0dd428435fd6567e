// A vocabulary of tokens: text to ids and back. The file is a SentencePiece model, or a
// tokenizer.json as Hugging Face's tokenizers write it (docs/model_file.md says which).
//
// Immutable once loaded; safe to use from many threads. The file holds everything that decides how
// text is cut, its normalisation and lower-casing included, so that equal files give equal ids
// everywhere.
#ifndef ATTEND_VOCABULARY_H_
#define ATTEND_VOCABULARY_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/model_config.h"

namespace attend {

class Tokenizer;

// How text is cut: into pieces of words (unigram, bpe), into words, or into characters. The last
// two are those of a tokenizer.json, which also cut words into pieces.
enum class VocabularyType { kUnigram, kBpe, kWord, kChar, kWordPiece, kByteBpe };

class Vocabulary {
 public:
  // Throws Error(kInput) for a file that can't be read or is neither kind of file, and for a part
  // of it that is not known.
  static std::shared_ptr<const Vocabulary> Load(const std::string& path);
  // From the bytes of such a file; `where` opens error messages.
  static std::shared_ptr<const Vocabulary> FromBytes(std::string_view bytes,
                                                     const std::string& where);
  // The same, whose ids of a text stand in the opposite order, the last piece first: what a model
  // writes that works from right to left. Bytes, pieces and ids stay.
  std::shared_ptr<const Vocabulary> Reversed() const;
  ~Vocabulary();
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  // Ids of one line's pieces, without bos or eos. Malformed UTF-8 becomes U+FFFD (Unicode's
  // "maximal subpart" practice); where `malformed` is given, the number of replacements is added to
  // it.
  std::vector<int32_t> Encode(std::string_view line, int64_t* malformed = nullptr) const;
  // Ids of one cut of the line drawn at random; `key` alone decides the draw. `strength` is, of a
  // BPE vocabulary, the probability to leave out a merge (Provilkov et al. 2020, BPE-dropout); of a
  // unigram one, the power to which probabilities of cuts are taken (alpha; Kudo 2018, subword
  // regularisation, over all cuts). Throws Error(kUsage) for kWordPiece.
  std::vector<int32_t> Sample(std::string_view line, double strength, uint64_t key,
                              int64_t* malformed = nullptr) const;
  // Text that Encode turns into the unknown token, or leaves out because no token is there for it,
  // in order, after normalization. Adjacent characters form one string.
  std::vector<std::string> UnknownTexts(std::string_view line) const;
  // Text of ids, one line: special ids (pad, bos, eos; of a tokenizer.json all special tokens) give
  // nothing, the bytes LF, CR and NUL a space. Throws Error(kUsage) for an id that is not in the
  // vocabulary.
  std::string Decode(std::span<const int32_t> ids) const;

  // The white-space word (divided by spaces and tabs, from 0) of the line that each of Encode's ids
  // belongs to, and of Decode's text that each id does. A piece of white space alone goes with the
  // word after it, at the end with the last; -1 where the text has no word.
  std::vector<int64_t> WordsOfLine(std::string_view line) const;
  std::vector<int64_t> WordsOfIds(std::span<const int32_t> ids) const;

  int64_t size() const;
  VocabularyType type() const;
  // -1 where there is none; eos is always there.
  SpecialIds special_ids() const;
  // The piece as the file spells it ("▁house", "##s", "Ġhouse"); its id, or special_ids().unk.
  std::string Piece(int32_t id) const;
  int32_t Id(std::string_view piece) const;
  // The file's bytes.
  const std::string& bytes() const;
  // For attend's own use (text/tokenizer.h).
  const Tokenizer& tokenizer() const;

 private:
  struct Impl;
  explicit Vocabulary(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_VOCABULARY_H_
