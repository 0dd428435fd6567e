// Texts with a number each, to be found at the beginning of another text.
#ifndef ATTEND_TEXT_BYTE_TRIE_H_
#define ATTEND_TEXT_BYTE_TRIE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace attend {

// A tree of bytes. Immutable; memory in proportion to the texts' sizes.
class ByteTrie {
 public:
  struct Match {
    int32_t value = -1;  // -1: none
    size_t size = 0;     // of the text that was found
  };

  ByteTrie() : ByteTrie(std::vector<std::pair<std::string_view, int32_t>>()) {}
  // Empty texts are left out. Of equal ones the first counts. Values are 0 or more.
  explicit ByteTrie(std::vector<std::pair<std::string_view, int32_t>> texts);

  // The longest of the texts that `text` begins with.
  Match Longest(std::string_view text) const;
  // The value of the text; -1 where it is none of them.
  int32_t Find(std::string_view text) const;
  bool empty() const { return nodes_[0].children == 0; }

 private:
  struct Node {
    uint32_t first = 0;  // of its children, which lie side by side
    uint32_t children = 0;
    int32_t value = -1;
  };

  // The child of the node for the byte; 0, the root, where there is none.
  uint32_t Child(uint32_t node, char byte) const;

  std::vector<Node> nodes_;
  std::vector<char> bytes_;  // that lead to each node; those of one node's children rise
};

}  // namespace attend

#endif  // ATTEND_TEXT_BYTE_TRIE_H_
