// An item with several inputs as a JSON object says it, in files and in requests.
#ifndef ATTEND_TEXT_ITEM_OBJECT_H_
#define ATTEND_TEXT_ITEM_OBJECT_H_

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace attend {

// What the object lacks is none or empty.
struct ItemObject {
  std::string id;
  std::optional<std::string> text;
  std::string picture;             // what stands for it
  std::vector<std::string> links;  // names of nodes, each once
  std::string label;
};

// Of an object with any of `keys`, which are names of members above; null is as good as none.
// Throws Error(kInput) that opens with `where` for anything else.
ItemObject ReadItemObject(const Json& object, const std::vector<std::string>& keys,
                          const std::string& where);

}  // namespace attend

#endif  // ATTEND_TEXT_ITEM_OBJECT_H_
