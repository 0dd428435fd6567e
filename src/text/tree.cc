#include "text/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attend/error.h"
#include "base/excerpt.h"
#include "text/utf8.h"

namespace attend {
namespace {

constexpr const char* kTrace = "-NONE-";
constexpr std::string_view kBlanks = " \t\r\f\v";

// Cuts the next bracket or word out of the line; empty at its end.
std::string_view TokenAt(std::string_view line, size_t* at) {
  const size_t begin = line.find_first_not_of(kBlanks, *at);
  if (begin == line.npos) {
    *at = line.size();
    return {};
  }
  const bool bracket = line[begin] == '(' || line[begin] == ')';
  const size_t end =
      bracket ? begin + 1 : std::min(line.find_first_of(" \t\r\f\v()", begin), line.size());
  *at = end;
  return line.substr(begin, end - begin);
}

// What makes a tree of tokens. A node's `end` is 0 until its bracket closes.
struct TreeBuilder {
  std::vector<int64_t> open;  // nodes
  Tree tree;
  bool labelled = false;  // the innermost open node has had its chance of a label

  // What is wrong with the token; empty: nothing.
  std::string Take(std::string_view token);
  std::string Close();
  bool whole() const { return open.empty() && !tree.nodes.empty(); }
};

std::string TreeBuilder::Close() {
  if (open.empty()) return "a ')' closes nothing";
  TreeNode& node = tree.nodes[open.back()];
  const int64_t count = std::ssize(tree.nodes);
  if (!node.leaf() && count == open.back() + 1) {
    return node.label.empty() ? "'()' has neither a label nor a word"
                              : fmt::format("'({})' has no word", Excerpt(node.label));
  }
  if (node.label.empty() && open.size() > 1) return "a bracket inside a tree has no label";
  node.end = count;
  open.pop_back();
  labelled = true;  // the one around it
  return "";
}

std::string TreeBuilder::Take(std::string_view token) {
  if (token == ")") return Close();
  if (token == "(") {
    if (!open.empty() && tree.nodes[open.back()].leaf())
      return fmt::format("a bracket follows the word '{}' inside its bracket",
                         Excerpt(tree.nodes[open.back()].word));
    if (std::ssize(open) == kMostTreeDepth)
      return fmt::format("a tree deeper than {} brackets", kMostTreeDepth);
    open.push_back(std::ssize(tree.nodes));
    tree.nodes.emplace_back();
    labelled = false;
    return "";
  }
  if (open.empty()) return fmt::format("'{}' stands outside of all brackets", Excerpt(token));
  TreeNode& node = tree.nodes[open.back()];
  if (!labelled) {
    node.label = token;
    labelled = true;
    return "";
  }
  if (node.leaf() || std::ssize(tree.nodes) > open.back() + 1)
    return fmt::format("'{}' follows another word or a bracket, expected a bracket for each word",
                       Excerpt(token));
  node.word = token;
  return "";
}

// "NP-SBJ-1" as "NP".
std::string WithoutFunctions(const std::string& label) {
  if (label.starts_with('-')) return label;  // -LRB-
  const size_t end = label.find_first_of("-=|");
  return end == 0 ? label : label.substr(0, end);
}

}  // namespace

std::vector<std::string> Tree::Words() const {
  std::vector<std::string> words;
  for (const TreeNode& node : nodes)
    if (node.leaf()) words.push_back(node.word);
  return words;
}

std::vector<std::string> Tree::Tags() const {
  std::vector<std::string> tags;
  for (const TreeNode& node : nodes)
    if (node.leaf()) tags.push_back(node.label);
  return tags;
}

bool TreeReader::Next(Tree* tree) {
  TreeBuilder builder;
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::kInput,
                fmt::format("{}:{}: {}; expected trees such as (S (NP (DT The) (NN cat)) (VP (VBZ "
                            "sits)))",
                            reader_.name(), reader_.lines(), why));
  };
  while (!builder.whole()) {
    const std::string_view token = TokenAt(line_, &at_);
    if (token.empty()) {
      if (reader_.Next(&line_)) {
        int64_t malformed = 0;
        line_ = RepairUtf8(line_, &malformed);
        malformed_ += malformed > 0 ? 1 : 0;
        at_ = 0;
        continue;
      }
      line_.clear();
      at_ = 0;
      if (!builder.open.empty())
        refuse(fmt::format("the file ends inside the tree that begins in line {}", first_line_));
      return false;
    }
    if (builder.open.empty()) first_line_ = reader_.lines();
    if (const std::string why = builder.Take(token); !why.empty()) refuse(why);
  }
  *tree = std::move(builder.tree);
  return true;
}

Tree TreeOfLine(std::string_view line, const std::string& where) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::kInput, fmt::format("{}: {}", where, why));
  };
  TreeBuilder builder;
  size_t at = 0;
  for (std::string_view token = TokenAt(line, &at); !token.empty(); token = TokenAt(line, &at)) {
    if (builder.whole()) refuse("more than one tree in a line, expected one");
    if (const std::string why = builder.Take(token); !why.empty()) refuse(why);
  }
  if (!builder.whole()) refuse("the line ends before its tree does");
  return std::move(builder.tree);
}

Tree Simplified(const Tree& tree) {
  Tree result;
  std::vector<std::pair<int64_t, int64_t>> open;  // ends in `tree`, and places in `result`
  const auto close_until = [&](int64_t place) {
    while (!open.empty() && open.back().first <= place) {
      TreeNode& node = result.nodes[open.back().second];
      node.end = std::ssize(result.nodes);
      // All of its words were traces.
      if (node.end == open.back().second + 1) result.nodes.pop_back();
      open.pop_back();
    }
  };
  for (int64_t i = 0; i < std::ssize(tree.nodes); ++i) {
    close_until(i);
    const TreeNode& node = tree.nodes[i];
    if (node.leaf()) {
      if (node.label == kTrace) continue;
      const int64_t end = std::ssize(result.nodes) + 1;
      result.nodes.push_back({WithoutFunctions(node.label), node.word, end});
      continue;
    }
    open.emplace_back(node.end, std::ssize(result.nodes));
    result.nodes.push_back({WithoutFunctions(node.label), "", 0});
  }
  close_until(std::ssize(tree.nodes));
  if (result.nodes.empty() || !result.nodes[0].label.empty()) return result;
  const bool only = result.nodes.size() > 1 && !result.nodes[1].leaf() &&
                    result.nodes[1].end == std::ssize(result.nodes);
  if (!only) {
    result.nodes[0].label = kTopLabel;
    return result;
  }
  result.nodes.erase(result.nodes.begin());
  for (TreeNode& node : result.nodes) --node.end;
  return result;
}

std::string ToLine(const Tree& tree) {
  std::string line;
  std::vector<int64_t> ends;  // of what is open
  for (int64_t i = 0; i < std::ssize(tree.nodes); ++i) {
    for (; !ends.empty() && ends.back() <= i; ends.pop_back()) line += ')';
    const TreeNode& node = tree.nodes[i];
    line += fmt::format("{}({}", i > 0 ? " " : "", node.label);
    if (node.leaf()) {
      line += fmt::format(" {})", node.word);
    } else {
      ends.push_back(node.end);
    }
  }
  line.append(ends.size(), ')');
  return line;
}

}  // namespace attend
