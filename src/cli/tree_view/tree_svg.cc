#include "cli/tree_view/tree_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/svg_text.h"

namespace attend {
namespace {

constexpr double kFont = 14, kTreeMargin = 24, kColumnGap = 16, kLevelHeight = 44, kTreeGap = 40;
constexpr double kTagHeight = 22;  // between a word and its tag

// A constituent, or after all of them a word.
struct DrawnNode {
  int64_t parent = -1;
  int64_t level = 0;           // above the tags
  double first = 0, last = 0;  // middles of the outermost children
  double x() const { return (first + last) / 2; }
};

struct TreeDrawing {
  std::string body;
  double width = 0, height = 0;
};

// Parents of constituents, then of words.
std::vector<DrawnNode> NodesOf(const ParsedText& tree) {
  const int64_t constituents = std::ssize(tree.constituents);
  std::vector<DrawnNode> nodes(constituents + std::ssize(tree.words));
  std::vector<int64_t> open;
  int64_t next = 0;
  for (int64_t word = 0; word < std::ssize(tree.words); ++word) {
    while (!open.empty() && tree.constituents[open.back()].end <= word) open.pop_back();
    for (; next < constituents && tree.constituents[next].begin == word; ++next) {
      nodes[next].parent = open.empty() ? -1 : open.back();
      open.push_back(next);
    }
    nodes[constituents + word].parent = open.empty() ? -1 : open.back();
  }
  return nodes;
}

// The width of each word's column: its own, its tag's, and that of constituents of it alone.
std::vector<double> ColumnsOf(const ParsedText& tree) {
  std::vector<double> widths;
  for (size_t word = 0; word < tree.words.size(); ++word)
    widths.push_back(std::max(TextWidth(tree.words[word]), TextWidth(tree.tags[word])));
  for (const Constituent& each : tree.constituents) {
    if (each.end - each.begin == 1)
      widths[each.begin] = std::max(widths[each.begin], TextWidth(each.label));
  }
  for (double& width : widths) width = kFont * width + kColumnGap;
  return widths;
}

// Children come after their parents.
void Place(const ParsedText& tree, std::vector<DrawnNode>* nodes, double* width) {
  const int64_t constituents = std::ssize(tree.constituents);
  double x = 0;
  const std::vector<double> columns = ColumnsOf(tree);
  for (size_t word = 0; word < columns.size(); ++word) {
    DrawnNode& node = (*nodes)[constituents + word];
    node.first = node.last = x + columns[word] / 2;
    x += columns[word];
  }
  *width = x;
  std::vector<bool> has_child(constituents, false);
  const auto add = [&](const DrawnNode& child) {
    if (child.parent < 0) return;
    DrawnNode& parent = (*nodes)[child.parent];
    const bool first = !has_child[child.parent];
    parent.first = first ? child.x() : std::min(parent.first, child.x());
    parent.last = first ? child.x() : std::max(parent.last, child.x());
    parent.level = std::max(parent.level, child.level + 1);
    has_child[child.parent] = true;
  };
  for (int64_t i = constituents; i < std::ssize(*nodes); ++i) add((*nodes)[i]);
  for (int64_t i = constituents; i-- > 0;) add((*nodes)[i]);
}

void AddText(double x, double y, const char* kind, const std::string& text, std::string* body) {
  *body += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>\n", x, y, kind,
                       EscapeMarkup(text));
}

TreeDrawing DrawTree(const ParsedText& tree, double top) {
  std::vector<DrawnNode> nodes = NodesOf(tree);
  TreeDrawing drawing;
  Place(tree, &nodes, &drawing.width);
  const int64_t constituents = std::ssize(tree.constituents);
  const int64_t levels = nodes[0].level;
  const auto y_of = [&](const DrawnNode& node) {
    return top + static_cast<double>(levels - node.level) * kLevelHeight + kFont;
  };
  for (const DrawnNode& node : nodes) {
    if (node.parent < 0) continue;
    const DrawnNode& parent = nodes[node.parent];
    // Down from the parent, across, and down to the child: so no line crosses another.
    drawing.body +=
        fmt::format("<path d=\"M{:.1f} {:.1f}v8H{:.1f}V{:.1f}\"/>\n", kTreeMargin + parent.x(),
                    y_of(parent) + 5, kTreeMargin + node.x(), y_of(node) - kFont);
  }
  for (int64_t i = 0; i < std::ssize(nodes); ++i) {
    const double x = kTreeMargin + nodes[i].x(), y = y_of(nodes[i]);
    if (i < constituents) {
      AddText(x, y, "constituent", tree.constituents[i].label, &drawing.body);
      continue;
    }
    AddText(x, y, "tag", tree.tags[i - constituents], &drawing.body);
    AddText(x, y + kTagHeight, "word", tree.words[i - constituents], &drawing.body);
  }
  drawing.height = static_cast<double>(levels) * kLevelHeight + kFont + kTagHeight + 6;
  return drawing;
}

}  // namespace

std::string TreesToSvg(std::span<const ParsedText> trees) {
  std::string body;
  double width = 0, height = kTreeMargin;
  for (const ParsedText& tree : trees) {
    if (tree.words.empty()) continue;
    if (height > kTreeMargin) height += kTreeGap;
    const TreeDrawing drawing = DrawTree(tree, height);
    body += drawing.body;
    width = std::max(width, drawing.width);
    height += drawing.height;
  }
  width += 2 * kTreeMargin;
  height += kTreeMargin;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n"
      "<style>rect {{ fill: #ffffff }} path {{ fill: none; stroke: #9aa5b1; stroke-width: 1.2 }} "
      "text {{ font: {2:.0f}px system-ui, sans-serif; text-anchor: middle; fill: #1f2933 }} "
      ".constituent {{ font-weight: 600; fill: #0b5394 }} .tag {{ fill: #7b8794 }}</style>\n"
      "<rect width=\"100%\" height=\"100%\"/>\n{3}</svg>\n",
      width, height, kFont, body);
}

}  // namespace attend
