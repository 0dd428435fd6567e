// `attend classify` of items, which have a text, a picture and links, with a model of fusion.
#ifndef ATTEND_CLI_ITEM_COMMAND_H_
#define ATTEND_CLI_ITEM_COMMAND_H_

#include <cstdint>
#include <string>
#include <vector>

#include "attend/classifier.h"
#include "attend/model_config.h"
#include "cli/command_line.h"

namespace attend {

struct ItemRun {
  const ItemClassifier& classifier;
  const PatchInput& patches;  // of the model
  const CommonOptions& common;
  int64_t top = 1;
  std::vector<std::string> without = {};  // inputs to leave out
};

// Prints what the model says of each item: a JSON object a line of these files, or of standard
// input. A warning at the end names and counts those that can't be read. Throws Error(kInput) with
// the first reason where none can, Error(kUsage) for `without`, names between commas, with another
// name than text, picture or links.
void RunOnItems(const std::vector<std::string>& files, const std::string& without, ItemRun run);

}  // namespace attend

#endif  // ATTEND_CLI_ITEM_COMMAND_H_
