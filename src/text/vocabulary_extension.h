// Further tokens at the end of a vocabulary.
#ifndef ATTEND_TEXT_VOCABULARY_EXTENSION_H_
#define ATTEND_TEXT_VOCABULARY_EXTENSION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "attend/vocabulary.h"

namespace attend {

// The vocabulary with one more token for each text, which is one token wherever a line has it;
// where tokens are words, wherever it is a word. All other ids stay. Throws Error(kUsage) that
// names a token that is empty, has white space, stands twice, is there already, or that the
// vocabulary would not read as one; `where` names the vocabulary.
std::shared_ptr<const Vocabulary> Extend(const Vocabulary& vocabulary,
                                         std::span<const std::string> tokens,
                                         const std::string& where);

// The id of a token as Extend adds it; nothing where there is none.
std::optional<int32_t> IdOfToken(const Vocabulary& vocabulary, const std::string& token);

}  // namespace attend

#endif  // ATTEND_TEXT_VOCABULARY_EXTENSION_H_
