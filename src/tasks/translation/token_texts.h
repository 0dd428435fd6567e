// What each token of a vocabulary adds to a text.
#ifndef ATTEND_TASKS_TRANSLATION_TOKEN_TEXTS_H_
#define ATTEND_TASKS_TRANSLATION_TOKEN_TEXTS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/vocabulary.h"

namespace attend {

// Case marks stand as they are, and a part of a character as its piece is spelt. Immutable.
class TokenTexts {
 public:
  explicit TokenTexts(const Vocabulary& vocabulary);
  // By id.
  explicit TokenTexts(std::vector<std::string> texts);

  // With a space before what begins a word; empty for special tokens.
  const std::string& Of(int32_t id) const { return texts_[id]; }
  std::string Of(std::span<const int32_t> ids) const;
  // Tokens whose texts begin with `begin` and go on, by id.
  std::vector<int32_t> Longer(std::string_view begin) const;

 private:
  std::vector<std::string> texts_;
  std::vector<int32_t> sorted_;  // ids, by text
};

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSLATION_TOKEN_TEXTS_H_
