// Tokens that stand in a text as they are, such as [MASK], whatever the model would make of them.
#ifndef ATTEND_TEXT_ADDED_TOKENS_H_
#define ATTEND_TEXT_ADDED_TOKENS_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/byte_trie.h"

namespace attend {

struct AddedToken {
  int32_t id = 0;
  std::string content;
  bool single_word = false;  // not inside a word
  bool lstrip = false;       // takes in the white space before it
  bool rstrip = false;       // takes in the white space after it
  bool normalized = false;   // it is looked for in the text as the normalizer leaves it
  bool special = false;      // it stands for no text
};

// Finds them in a text, from left to right; of several at one place the longest. Immutable.
class AddedTokenFinder {
 public:
  struct Part {
    int32_t id = -1;  // -1: plain text
    size_t begin = 0, end = 0;
    size_t token_begin = 0;  // begin, without the white space that the token takes in
  };

  // Of tokens with one content the first counts.
  explicit AddedTokenFinder(std::vector<AddedToken> tokens);

  // The text in parts, of which none is empty.
  std::vector<Part> Find(std::string_view text) const;

 private:
  std::vector<AddedToken> tokens_;
  ByteTrie trie_;                 // indices of tokens_
  std::bitset<256> first_bytes_;  // of their contents
};

}  // namespace attend

#endif  // ATTEND_TEXT_ADDED_TOKENS_H_
