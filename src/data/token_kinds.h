// Where words begin among the tokens of a vocabulary.
#ifndef ATTEND_DATA_TOKEN_KINDS_H_
#define ATTEND_DATA_TOKEN_KINDS_H_

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "attend/vocabulary.h"

namespace attend {

enum class TokenKind : uint8_t { kSpecial, kBegins, kContinues };  // of a token, in its word

// By id. The ids of `special` are those that belong to no word; -1 is none.
std::vector<TokenKind> TokenKinds(const Vocabulary& vocabulary,
                                  std::initializer_list<int64_t> special);

}  // namespace attend

#endif  // ATTEND_DATA_TOKEN_KINDS_H_
