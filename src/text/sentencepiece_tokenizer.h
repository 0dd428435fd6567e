// The tokenizer of a SentencePiece model.
#ifndef ATTEND_TEXT_SENTENCEPIECE_TOKENIZER_H_
#define ATTEND_TEXT_SENTENCEPIECE_TOKENIZER_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "text/tokenizer.h"

namespace attend {

// Throws Error(kInput) for bytes that are no such model; `where` opens the message.
std::unique_ptr<const Tokenizer> ReadSentencePiece(std::string_view bytes,
                                                   const std::string& where);

// The model with further pieces, which have the next ids. `symbols`: each is one piece wherever a
// text has it; else they are as other pieces.
std::string ExtendedSentencePiece(std::string_view bytes, std::span<const std::string> pieces,
                                  bool symbols, const std::string& where);

}  // namespace attend

#endif  // ATTEND_TEXT_SENTENCEPIECE_TOKENIZER_H_
