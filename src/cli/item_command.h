// `attend classify` and `attend embed` of items, which have a text, a picture and links, with a
// model of fusion.
#ifndef ATTEND_CLI_ITEM_COMMAND_H_
#define ATTEND_CLI_ITEM_COMMAND_H_

#include <cstdint>
#include <string>
#include <vector>

#include "attend/classifier.h"
#include "attend/model_config.h"
#include "cli/command_line.h"
#include "cli/vector_output.h"

namespace attend {

struct ItemRun {
  const ItemClassifier& classifier;
  const PatchInput& patches;  // of the model
  const CommonOptions& common;
};

// Both read a JSON object a line of these files, or of standard input. A warning at the end names
// and counts those that can't be read. They throw Error(kInput) with the same where none can.

// Prints what the model says of each item, `top` classes, and logs how many labels that the items
// have are right. Throws Error(kUsage) for `without`, names
// between commas, with another name than text, picture or links.
void ClassifyItems(const std::vector<std::string>& files, const ItemRun& run, int64_t top,
                   const std::string& without);

// Writes the vector of each item's text or picture, as `of` says. Throws Error(kUsage) for another
// `of` and for a model without such vectors.
void EmbedItems(const std::vector<std::string>& files, const ItemRun& run, const std::string& of,
                VectorOutput* output);

}  // namespace attend

#endif  // ATTEND_CLI_ITEM_COMMAND_H_
