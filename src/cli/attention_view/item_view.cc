#include "cli/attention_view/item_view.h"

#include <fmt/format.h>

#include "attend/classifier.h"
#include "attend/error.h"
#include "base/counted.h"
#include "cli/attention_view/attention_view.h"
#include "cli/attention_view/html_page.h"
#include "cli/svg_text.h"
#include "data/items.h"
#include "media/fit_picture.h"
#include "tasks/classification/classification_json.h"
#include "tasks/fusion/fusion_json.h"
#include "tasks/fusion/item_attention.h"
#include "tasks/fusion/neighbourhood.h"
#include "text/lines.h"

namespace attend {
namespace {

Item ReadItemOf(const std::filesystem::path& file, int64_t number) {
  LineReader reader(file.string(), FormatCheck::kText);
  std::string line;
  while (reader.Next(&line)) {
    if (reader.lines() == number)
      return ParseItem(line, file.parent_path(), fmt::format("{}:{}", reader.name(), number));
  }
  throw Error(ErrorKind::kInput, fmt::format("'{}' has {}, and item {} is asked for", file.string(),
                                             Counted(reader.lines(), "line"), number));
}

}  // namespace

ItemView ViewOfItem(const std::shared_ptr<const LoadedModel>& loaded,
                    const std::filesystem::path& file, int64_t number) {
  constexpr int64_t kTold = 3, kListed = 12;  // classes
  const Item given = ReadItemOf(file, number);
  const PatchInput& patches = loaded->config().fusion->patches;
  ClassifiedItem item;
  item.text = given.text;
  item.links = given.links;
  if (!given.picture.empty()) item.pixels = ReadFitted(given.picture, patches).pixels;
  const ItemClassifier classifier(loaded, /*threads=*/1);
  const ItemClassification found = classifier.Classify({&item, 1}, /*contributions=*/true)[0];
  ItemView view{.name = fmt::format("{}, item {}", file.filename().string(),
                                    given.id.empty() ? std::to_string(number) : given.id),
                .told = "",
                .layers = loaded->config().encoder->layers,
                .answer = {}};
  for (const ClassProbability& each : LikeliestClasses(found, kTold)) {
    view.told += fmt::format("{}{} {:.1f} %", view.told.empty() ? "" : ", ", each.label,
                             100 * each.probability);
  }
  view.answer = {
      {"classes", ClassesToJson(found, kListed)},
      {"contributions", ContributionsToJson(found)},
      {"attention", ItemAttentionToJson(AttentionOfItem(ItemReader(loaded), item), patches.patch)},
      {"graph", NeighbourhoodToJson(GraphNeighbours(loaded->model()).Around(item.links))}};
  return view;
}

Json ItemViewToJson(const ItemView& view) {
  Json json = view.answer;
  json["name"] = view.name;
  json["told"] = view.told;
  return json;
}

std::string ItemViewToHtml(const ItemView& view, int64_t layer) {
  Json data = view.answer;
  data["layer"] = LayerIndex(view.layers, layer);
  return HtmlPage("fusion.html",
                  {"attention.css", "picture_attention.css", "fusion.css", "picture_attention.js",
                   "neighbourhood.js", "fusion.js"},
                  {{"NAME", EscapeMarkup(view.name)}, {"TOLD", EscapeMarkup(view.told)}}, data);
}

}  // namespace attend
