#include "data/token_kinds.h"

#include <algorithm>

#include "text/tokenizer.h"

namespace attend {

std::vector<TokenKind> TokenKinds(const Vocabulary& vocabulary,
                                  std::initializer_list<int64_t> special) {
  std::vector<TokenKind> kinds;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const bool is_special = std::ranges::find(special, id) != special.end();
    const bool begins = vocabulary.tokenizer().TextOf(id).begins_word;
    kinds.push_back(is_special ? TokenKind::kSpecial
                    : begins   ? TokenKind::kBegins
                               : TokenKind::kContinues);
  }
  return kinds;
}

}  // namespace attend
