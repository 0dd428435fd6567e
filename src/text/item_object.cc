#include "text/item_object.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "attend/error.h"
#include "base/edit_distance.h"
#include "base/excerpt.h"

namespace attend {
namespace {

[[noreturn]] void Refuse(const std::string& where, const std::string& message) {
  throw Error(ErrorKind::kInput, fmt::format("{}: {}", where, message));
}

std::string TextOf(const Json& value, const std::string& key, const std::string& where) {
  if (!value.is_string())
    Refuse(where, fmt::format("{} is {}, expected a text", key, Excerpt(value.dump())));
  return value.get<std::string>();
}

// Results are lines of columns.
std::string NameOf(const Json& value, const std::string& key, const std::string& where) {
  std::string name = TextOf(value, key, where);
  if (name.find_first_of("\t\n\r") != name.npos)
    Refuse(where, fmt::format("{} is {}, expected no tab and no line end in it", key,
                              Excerpt(value.dump())));
  return name;
}

std::vector<std::string> LinksOf(const Json& value, const std::string& where) {
  std::vector<std::string> links;
  std::unordered_set<std::string> seen;
  if (!value.is_array())
    Refuse(where, fmt::format("links is {}, expected a list of nodes", Excerpt(value.dump())));
  for (const Json& link : value) {
    std::string name = TextOf(link, "a link", where);
    // A node that is named twice says no more.
    if (seen.insert(name).second) links.push_back(std::move(name));
  }
  return links;
}

}  // namespace

ItemObject ReadItemObject(const Json& object, const std::vector<std::string>& keys,
                          const std::string& where) {
  ItemObject item;
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(keys, key) == keys.end())
      Refuse(where, fmt::format("unknown key '{}', expected {}{}", Excerpt(key),
                                fmt::join(keys, ", "), DidYouMean(key, keys)));
    if (value.is_null()) continue;
    if (key == "id" && value.is_number_integer())
      item.id = value.dump();
    else if (key == "id")
      item.id = NameOf(value, key, where);
    if (key == "text")
      if (std::string text = TextOf(value, key, where); !text.empty()) item.text = std::move(text);
    if (key == "picture") {
      item.picture = TextOf(value, key, where);
      if (item.picture.empty()) Refuse(where, "the picture is empty; leave out the key");
    }
    if (key == "links") item.links = LinksOf(value, where);
    if (key == "label") item.label = NameOf(value, key, where);
  }
  return item;
}

}  // namespace attend
