// What a model of fusion looks at in an item, for people: a drawing, an HTML page or
// numbers.
#ifndef ATTEND_CLI_ATTENTION_VIEW_ITEM_VIEW_H_
#define ATTEND_CLI_ATTENTION_VIEW_ITEM_VIEW_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/json.h"
#include "tasks/loaded_model.h"

namespace attend {

struct ItemView {
  std::string name;    // of the item
  std::string told;    // the model's answer
  int64_t layers = 0;  // of the joint encoder
  Json answer;         // {"classes", "contributions", "attention", "graph"}
};

// The view of an item: one line of a file of JSON lines, whose number, from 1, is given. Throws
// Error(kInput) for a line that is not there or can't be read.
ItemView ViewOfItem(const std::shared_ptr<const LoadedModel>& loaded,
                    const std::filesystem::path& file, int64_t number);

// The answer with "name" and "told".
Json ItemViewToJson(const ItemView& view);

// Attention rollout over words, picture and links.
std::string ItemViewToSvg(const ItemView& view);

// A page that needs no network, whose picture is opened at one layer, counted from 1; 0 is the
// last. Throws Error(kUsage) for a layer that is not there.
std::string ItemViewToHtml(const ItemView& view, int64_t layer);

}  // namespace attend

#endif  // ATTEND_CLI_ATTENTION_VIEW_ITEM_VIEW_H_
