// Trains a vocabulary file with SentencePiece.
#ifndef ATTEND_TEXT_VOCABULARY_TRAINER_H_
#define ATTEND_TEXT_VOCABULARY_TRAINER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "attend/vocabulary.h"
#include "base/fields.h"
#include "base/log.h"
#include "text/normalization.h"
#include "text/vocabulary_text.h"

namespace attend {

// Of SentencePiece, which else reports to standard error: fatal errors alone.
inline constexpr int kLogLevel = 3;

// Lines that a vocabulary is trained on by default where the text may be larger than memory:
// SentencePiece takes about 10 times their bytes for BPE, 25 times for a unigram vocabulary.
constexpr int64_t StreamedSentences(VocabularyType type) {
  return type == VocabularyType::kBpe ? 500000 : 200000;
}

struct VocabularyOptions {
  int64_t size = 8000;  // tokens, special ones included; of words and characters at most
  VocabularyType type = VocabularyType::kUnigram;
  double character_coverage = 1.0;  // share of the text's characters that get a piece of their own
  bool byte_fallback = false;       // spell other characters by their bytes instead of as unknown
  std::vector<std::string> user_defined_symbols;  // always one piece each, never normalised
  int64_t placeholders = 0;   // PlaceholderText of so many numbers, each one piece
  int64_t sentinels = 0;      // SentinelText of so many numbers, each one piece
  bool newline = false;       // kNewline is a token: it stands for the end of a line
  bool mask = false;          // kMaskToken is a token, for masked language models
  bool split_digits = false;  // each digit is a piece of its own
  Normalization normalization = Normalization::kNfkc;
  LetterCase letter_case = LetterCase::kKeep;
  bool lower_cases() const { return letter_case == LetterCase::kLower; }
  int64_t max_sentences = 0;  // train on a random sample of this many lines; 0: all

  // For text that may be larger than memory.
  void LimitSentences() {
    if (max_sentences == 0) max_sentences = StreamedSentences(type);
  }
};

// Fields under the names a vocabulary's own command gives them; with the prefix "vocab_" those that
// would mean something else in a recipe are `vocab_size`, `vocab_type` and `vocab_max_sentences`.
// All but `case`, a fact of every vocabulary, are of its making.
FieldList Fields(VocabularyOptions& options, const std::string& prefix = "");

// The bytes of the vocabulary file. Pad, unk, bos and eos have SpecialIds' ids; normalisation and
// what becomes of case are inside the file. A function of the lines, the options and the seed
// (which only draws the sample) alone. Malformed UTF-8 is repaired and counted in a warning to
// `log`, and so are lines with U+2585, which no vocabulary can have a piece for and which is read
// as a space, and words of more than 2,048 characters, which are cut. Throws Error(kConfiguration)
// for a size or an option that the text can't satisfy, Error(kInput) where there is no text.
std::string TrainVocabulary(const NextLine& next, const VocabularyOptions& options, uint64_t seed,
                            const Log& log);

// The lines of files one after another; .gz and .zst too.
std::string TrainVocabulary(const std::vector<std::string>& files, const VocabularyOptions& options,
                            uint64_t seed, const Log& log);

}  // namespace attend

#endif  // ATTEND_TEXT_VOCABULARY_TRAINER_H_
