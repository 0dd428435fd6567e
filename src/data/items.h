// Items with several inputs as JSON lines hold them, and the graph that they link to.
#ifndef ATTEND_DATA_ITEMS_H_
#define ATTEND_DATA_ITEMS_H_

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/example_table.h"

namespace attend {

// What an item lacks is none or empty.
struct Item {
  Origin origin;
  std::string id;
  std::optional<std::string> text;
  std::filesystem::path picture;
  std::vector<std::string> links;  // names of nodes
  std::string label;
};

// A line is an object with any of "id", "text", "picture", "links" and "label"; null is as good as
// none. A picture's path starts from `folder`. Throws Error(kInput) that opens with `where` for
// anything else.
Item ParseItem(const std::string& line, const std::filesystem::path& folder,
               const std::string& where);

// All items of the files, each with a label; paths start from their file's folder. Throws
// Error(kInput) that names the line.
std::vector<Item> ReadItems(const std::vector<std::string>& files);

// All labels, in order of their bytes.
std::vector<std::string> LabelsIn(const std::vector<Item>& items);

// Names in order of their bytes, and triples that name them by number: from, relation, to.
struct KnowledgeGraph {
  std::vector<std::string> nodes, relations;
  std::vector<std::array<int64_t, 3>> triples;  // sorted, each once
};

// Lines of node<TAB>relation<TAB>node. Throws Error(kInput) that names the line for another one,
// and for files without any.
KnowledgeGraph ReadGraph(const std::vector<std::string>& files);
// The same lines back.
std::string GraphText(const KnowledgeGraph& graph);

}  // namespace attend

#endif  // ATTEND_DATA_ITEMS_H_
