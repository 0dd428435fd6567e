// BLEU's tokenizers that cut by a SentencePiece model, as sacreBLEU's flores101 and flores200 do.
#ifndef ATTEND_METRICS_PIECE_TOKENIZER_H_
#define ATTEND_METRICS_PIECE_TOKENIZER_H_

#include <memory>
#include <string>
#include <string_view>

#include "attend/metrics.h"

namespace attend {

// Immutable; safe to use from many threads.
class PieceTokenizer {
 public:
  // Throws Error(kInput) where the file is no SentencePiece model.
  explicit PieceTokenizer(const std::string& path);
  ~PieceTokenizer();

  // The line's pieces with a space between them.
  std::u32string Tokenize(std::u32string_view line) const;
  // The first 8 digits of the file's SHA-256.
  const std::string& digest() const { return digest_; }

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
  std::string digest_;
};

// Null where `options.tokenize` needs none. Throws Error(kConfiguration) where a model is missing
// or given in vain.
std::shared_ptr<const PieceTokenizer> LoadPieceTokenizer(const BleuOptions& options);

}  // namespace attend

#endif  // ATTEND_METRICS_PIECE_TOKENIZER_H_
