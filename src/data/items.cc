#include "data/items.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "attend/error.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "base/triple.h"
#include "text/item_object.h"
#include "text/lines.h"
#include "text/utf8.h"

namespace attend {
namespace {

[[noreturn]] void Refuse(const std::string& where, const std::string& message) {
  throw Error(ErrorKind::kInput, fmt::format("{}: {}", where, message));
}

// Numbers of names that are sorted.
int64_t NumberOf(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::lower_bound(names, name) - names.begin();
}

}  // namespace

Item ParseItem(const std::string& line, const std::filesystem::path& folder,
               const std::string& where) {
  const Json object = ParseJson(line, where);
  if (!object.is_object()) Refuse(where, fmt::format("'{}' is no JSON object", Excerpt(line)));
  ItemObject read = ReadItemObject(object, {"id", "text", "picture", "links", "label"}, where);
  Item item;
  item.id = std::move(read.id);
  item.text = std::move(read.text);
  if (!read.picture.empty()) item.picture = folder / read.picture;
  item.links = std::move(read.links);
  item.label = std::move(read.label);
  return item;
}

std::vector<Item> ReadItems(const std::vector<std::string>& files) {
  std::vector<Item> items;
  for (int64_t file = 0; file < std::ssize(files); ++file) {
    LineReader reader(files[file], FormatCheck::kText);
    const std::filesystem::path folder = std::filesystem::path(files[file]).parent_path();
    std::string line;
    while (reader.Next(&line)) {
      const std::string where = fmt::format("{}:{}", files[file], reader.lines());
      Item& item = items.emplace_back(ParseItem(line, folder, where));
      if (item.label.empty()) Refuse(where, "the item has no label, expected one");
      item.origin = {file, reader.lines() - 1};
    }
  }
  if (items.empty())
    throw Error(ErrorKind::kInput, fmt::format("'{}' is empty, expected items", files[0]));
  return items;
}

std::vector<std::string> LabelsIn(const std::vector<Item>& items) {
  std::set<std::string> labels;
  for (const Item& item : items) labels.insert(item.label);
  return {labels.begin(), labels.end()};
}

KnowledgeGraph ReadGraph(const std::vector<std::string>& files) {
  std::set<std::array<std::string, 3>> found;
  std::set<std::string> nodes, relations;
  for (const std::string& file : files) {
    LineReader reader(file, FormatCheck::kText);
    std::string line;
    while (reader.Next(&line)) {
      std::string repaired = RepairUtf8(line);
      // Of CRLF whose LF is missing at the end of the file: no part of a name.
      repaired.erase(repaired.find_last_not_of('\r') + 1);
      const auto split = SplitTriple(repaired);
      if (!split) {
        Refuse(fmt::format("{}:{}", file, reader.lines()),
               fmt::format("'{}', expected a node, a tab, a relation, a tab and a node",
                           Excerpt(line)));
      }
      const std::array<std::string, 3> triple = {std::string((*split)[0]), std::string((*split)[1]),
                                                 std::string((*split)[2])};
      nodes.insert({triple[0], triple[2]});
      relations.insert(triple[1]);
      found.insert(triple);
    }
  }
  if (found.empty())
    throw Error(ErrorKind::kInput, fmt::format("'{}' is empty, expected triples", files[0]));
  KnowledgeGraph graph{{nodes.begin(), nodes.end()}, {relations.begin(), relations.end()}, {}};
  for (const auto& [from, relation, to] : found) {
    graph.triples.push_back({NumberOf(graph.nodes, from), NumberOf(graph.relations, relation),
                             NumberOf(graph.nodes, to)});
  }
  return graph;
}

std::string GraphText(const KnowledgeGraph& graph) {
  std::string text;
  for (const auto& [from, relation, to] : graph.triples) {
    text +=
        fmt::format("{}\t{}\t{}\n", graph.nodes[from], graph.relations[relation], graph.nodes[to]);
  }
  return text;
}

}  // namespace attend
