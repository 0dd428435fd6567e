// Hugging Face's tokenizer.json: one JSON file that says all about a tokenizer. Only files of
// WordPiece and of byte-level BPE are read.
#ifndef ATTEND_TEXT_TOKENIZER_JSON_H_
#define ATTEND_TEXT_TOKENIZER_JSON_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attend/model_config.h"
#include "text/added_tokens.h"
#include "text/byte_bpe.h"
#include "text/text_normalizer.h"
#include "text/word_splitter.h"
#include "text/wordpiece.h"

namespace attend {

struct TokenDecoder {
  enum class Kind {
    kBytes,       // tokens spell bytes
    kWordPieces,  // a space before each token that has no prefix
    kJoined,      // a space before each token
  };
  Kind kind = Kind::kJoined;
  std::string prefix;    // of kWordPieces
  bool cleanup = false;  // of kWordPieces: no space before punctuation and English endings
};

struct TokenizerFile {
  std::vector<std::string> tokens;  // by id: those of the model, then further added ones
  size_t model_tokens = 0;
  std::vector<AddedToken> added_tokens;
  std::vector<NormalizerStep> normalizer;
  std::vector<SplitStep> splits;
  std::variant<WordPieceOptions, ByteBpeOptions> model;
  TokenDecoder decoder;
  SpecialIds special_ids;
};

// Whether the bytes look like such a file: the first one that is no white space is '{'.
bool IsTokenizerJson(std::string_view bytes);

// Throws Error(kInput) that opens with `where` for anything that is not known, by its name.
TokenizerFile ReadTokenizerJson(std::string_view bytes, const std::string& where);

}  // namespace attend

#endif  // ATTEND_TEXT_TOKENIZER_JSON_H_
