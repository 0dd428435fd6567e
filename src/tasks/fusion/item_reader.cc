#include "tasks/fusion/item_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attend/error.h"
#include "base/edit_distance.h"
#include "base/excerpt.h"
#include "media/fit_picture.h"
#include "text/word_ids.h"

namespace attend {

const std::vector<std::string>& ItemInputNames() {
  static const std::vector<std::string> names = {"text", "picture", "links"};
  return names;
}

void LeaveOut(std::string_view input, ClassifiedItem* item) {
  if (input == "text") item->text.reset();
  if (input == "picture") {
    item->picture.clear();
    item->pixels.clear();
  }
  if (input == "links") item->links.clear();
}

bool HasInput(const EncoderInput& input) {
  return !input.ids.empty() || !input.numbers.empty() || !input.nodes.empty();
}

ItemReader::ItemReader(std::shared_ptr<const LoadedModel> loaded)
    : loaded_(std::move(loaded)), numbers_(config().fusion->patches) {
  const std::vector<std::string>& nodes = config().fusion->nodes;
  for (size_t i = 0; i < nodes.size(); ++i) rows_[nodes[i]] = static_cast<int32_t>(i);
}

ReadItem ItemReader::Read(const ClassifiedItem& item) const {
  ReadItem read;
  if (item.text && !item.text->empty()) {
    TextIds ids = EncodeCut(loaded_->source(), *item.text, MaxEncoderTokens(config()));
    read.input.ids = std::move(ids.ids);
    read.cut = ids.cut;
  }
  if (!item.picture.empty()) {
    read.input.numbers =
        numbers_.Of(DecodeFitted(item.picture, item.picture_name, config().fusion->patches).pixels);
  } else if (!item.pixels.empty()) {
    read.input.numbers = numbers_.Of(item.pixels);
  }
  for (const std::string& link : item.links) {
    const auto found = rows_.find(link);
    if (found == rows_.end()) {
      throw Error(ErrorKind::kInput,
                  fmt::format("link '{}' is no node of the model's graph{}", Excerpt(link),
                              DidYouMean(link, config().fusion->nodes)));
    }
    // A node that is linked twice says no more.
    if (std::ranges::find(read.input.nodes, found->second) == read.input.nodes.end())
      read.input.nodes.push_back(found->second);
  }
  if (!HasInput(read.input))
    throw Error(ErrorKind::kInput, "the item has no text, no picture and no links, expected one");
  return read;
}

}  // namespace attend
