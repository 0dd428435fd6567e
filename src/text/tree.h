// Constituency trees in the Penn Treebank's brackets (Marcus et al. 1993): read, simplified,
// written.
#ifndef ATTEND_TEXT_TREE_H_
#define ATTEND_TEXT_TREE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/lines.h"

namespace attend {

// A constituent, or a word with its tag as the label.
struct TreeNode {
  std::string label;
  std::string word;  // empty: a constituent
  int64_t end = 0;   // of its part of the tree: one past the place of its last descendant

  bool leaf() const { return !word.empty(); }
  bool operator==(const TreeNode&) const = default;
};

// The nodes of one tree, each before its children; the first is the root. No depth of it is a depth
// of calls.
struct Tree {
  std::vector<TreeNode> nodes;

  bool operator==(const Tree&) const = default;
  std::vector<std::string> Words() const;
  std::vector<std::string> Tags() const;
};

inline constexpr int64_t kMostTreeDepth = 500;  // of constituents in each other

// What the outermost bracket is called that has no label and more than one child.
inline constexpr const char* kTopLabel = "TOP";

// Reads trees one after another: several in a line, or one over several lines. The outermost
// bracket alone may lack a label, as `( (S ...) )`. One owner; not thread-safe.
class TreeReader {
 public:
  explicit TreeReader(const std::string& path) : reader_(path, FormatCheck::kText) {}

  // False at the end of the file. Throws Error(kInput) that names file and line for what is no tree
  // and for one that is deeper than kMostTreeDepth, and as LineReader does. Malformed UTF-8 is
  // repaired.
  bool Next(Tree* tree);
  // Of the tree that Next gave last, from 1.
  int64_t first_line() const { return first_line_; }
  int64_t malformed() const { return malformed_; }  // lines that were not UTF-8

 private:
  LineReader reader_;
  std::string line_;
  size_t at_ = 0;  // in the line
  int64_t first_line_ = 0, malformed_ = 0;
};

// The only tree of a line. Throws Error(kInput) that opens with `where`, as TreeReader::Next.
Tree TreeOfLine(std::string_view line, const std::string& where);

// Without traces (leaves of -NONE-) and the constituents that they leave empty, and without
// function tags: NP-SBJ-1, NP=2 and ADVP|PRT become NP, NP and ADVP; -LRB- stays. An outermost
// bracket without a label gives way to its only child where that is a constituent; else it is
// kTopLabel. Without nodes where no word is left.
Tree Simplified(const Tree& tree);

// "(S (NP (DT The) (NN cat)) (VP (VBZ sits)))".
std::string ToLine(const Tree& tree);

}  // namespace attend

#endif  // ATTEND_TEXT_TREE_H_
