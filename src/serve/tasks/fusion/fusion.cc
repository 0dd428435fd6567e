#include "serve/tasks/fusion/fusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attend/classifier.h"
#include "attend/error.h"
#include "media/fit_picture.h"
#include "serve/json_request.h"
#include "serve/openapi.h"
#include "serve/text_limit.h"
#include "tasks/classification/classification_json.h"
#include "tasks/fusion/fusion_json.h"
#include "tasks/fusion/item_attention.h"
#include "tasks/fusion/neighbourhood.h"
#include "text/item_object.h"

namespace attend {
namespace {

constexpr const char* kItem = "item";
constexpr size_t kMostLinks = 256;         // of an item
constexpr int64_t kMostNamedNodes = 1000;  // in /v1/models

std::vector<std::string> RoutesOf(const ModelToServe& model) {
  std::vector<std::string> routes = {kClassifyRoute};
  if (model.loaded->config().fusion->shared_width > 0) routes.emplace_back(kEmbeddingsRoute);
  return routes;
}

class ServedItems final : public ServedEncoder {
 public:
  ServedItems(const ModelToServe& model, const ServeOptions& options, WorkPool* pool)
      : ServedEncoder(model, RoutesOf(model), options, pool),
        classifier_(loaded(), kCallersThread),
        reader_(loaded()),
        graph_(loaded()->model()) {}
  ~ServedItems() override { Stop(); }

  void TakeItem(ClassifiedItem item, const std::string& name, EncoderText* text) const override {
    if (item.text) {
      text->text = *item.text;
      ServedEncoder::TakeText(name + ": the text", text);
    }
    if (!item.picture.empty()) {
      item.pixels = DecodeFitted(item.picture, name + ": the picture", patches()).pixels;
      item.picture.clear();
    }
    if (const std::string reason = classifier_.ReasonAgainst(item); !reason.empty())
      throw Error(ErrorKind::kInput, fmt::format("{}: {}", name, reason));
    if (!item.pixels.empty()) text->room += patches().rows();
    text->room += 1 + std::ssize(item.links);
    text->item = std::move(item);
  }

  std::vector<Json> Classify(std::span<EncoderText* const> texts, const ItemQuestions& questions,
                             int64_t top) const {
    std::vector<ClassifiedItem> items;
    for (const EncoderText* text : texts) items.push_back(text->item);
    const std::vector<ItemClassification> found =
        classifier_.Classify(items, questions.contributions);
    std::vector<Json> answers;
    for (size_t i = 0; i < items.size(); ++i) {
      Json& answer = answers.emplace_back(
          Json{{"classes", ClassesToJson(found[i], top)}, {"cut", found[i].cut}});
      if (questions.contributions) answer["contributions"] = ContributionsToJson(found[i]);
      if (questions.attention) answer["attention"] = AttentionOf(*texts[i]);
      if (questions.graph) answer["graph"] = NeighbourhoodToJson(graph_.Around(items[i].links));
    }
    return answers;
  }

  // By itself, for a vector.
  void TakeText(const std::string& name, EncoderText* text) const override {
    ServedEncoder::TakeText(name, text);
    if (text->text.empty()) throw Error(ErrorKind::kInput, name + " is empty");
  }

  // In the space that texts and pictures share, where they have length 1.
  std::vector<TextVector> Embed(std::span<EncoderText* const> texts,
                                const EmbeddingOptions& options) const override {
    if (options.pooling != TextPooling::kMean) {
      throw Error(ErrorKind::kInput,
                  "pooling is not for a model of items, whose texts and pictures have one vector");
    }
    const bool pictures = !texts[0]->picture.pixels.empty();
    std::vector<ClassifiedItem> items(texts.size());
    for (size_t i = 0; i < texts.size(); ++i) {
      if (pictures) {
        items[i].pixels = texts[i]->picture.pixels;
      } else {
        items[i].text = texts[i]->text;
      }
    }
    std::vector<TextVector> vectors;
    for (ItemVector& found :
         classifier_.Embed(items, pictures ? EmbeddedPart::kPicture : EmbeddedPart::kText))
      vectors.push_back({std::move(found.values_W), found.cut});
    return vectors;
  }

  void Describe(Json* json) const override {
    ServedEncoder::Describe(json);
    const FusionInput& fusion = *config().fusion;
    (*json)["inputs"] = ItemInputNames();
    (*json)["picture"] = {{"width", fusion.patches.width}, {"height", fusion.patches.height}};
    if (fusion.shared_width > 0) (*json)["embedding_width"] = fusion.shared_width;
    const int64_t count = std::ssize(fusion.nodes);
    (*json)["nodes"] = {{"count", count},
                        {"names", std::vector<std::string>(
                                      fusion.nodes.begin(),
                                      fusion.nodes.begin() + std::min(count, kMostNamedNodes))},
                        {"triples", graph_.triples()}};
  }

 private:
  Json AttentionOf(const EncoderText& text) const {
    try {
      return ItemAttentionToJson(AttentionOfItem(reader_, text.item), patches().patch);
    } catch (const Error& error) {
      const auto& texts = static_cast<const EncoderJob&>(*text.job).texts;
      const auto place = std::ranges::find(texts, &text, [](const auto& each) { return &each; });
      throw Error(error.kind(),
                  fmt::format("item {}: {}", place - texts.begin() + 1, error.what()));
    }
  }

  const ItemClassifier classifier_;
  const ItemReader reader_;
  const GraphNeighbours graph_;
};

[[noreturn]] void Refuse(const std::string& message) {
  throw Error(ErrorKind::kInput, "request body: " + message);
}

ClassifiedItem ItemFrom(const Json& given, const std::string& name) {
  if (!given.is_object()) {
    Refuse(
        fmt::format("{} is {}, expected an object with text, picture or links, or a list of "
                    "such objects",
                    name, KindOf(given)));
  }
  if (const auto links = given.find("links");
      links != given.end() && links->is_array() && links->size() > kMostLinks) {
    Refuse(fmt::format("{}: links has {} nodes, expected at most {}", name, links->size(),
                       kMostLinks));
  }
  ItemObject read = ReadItemObject(given, ItemInputNames(), "request body: " + name);
  ClassifiedItem item;
  item.text = std::move(read.text);
  item.links = std::move(read.links);
  if (!read.picture.empty()) item.picture = BytesOfPicture(read.picture, name + ": picture");
  return item;
}

}  // namespace

std::shared_ptr<ServedModel> ServeFusion(const ModelToServe& model, const ServeOptions& options,
                                         WorkPool* pool) {
  return std::make_shared<ServedItems>(model, options, pool);
}

FieldList ItemFields(ItemQuestions* questions) {
  FieldList fields;
  fields
      .Add("contributions", &questions->contributions,
           "of items: tell what each input contributes to the first class")
      .Add("graph", &questions->graph,
           "of items: give the graph's triples around the linked nodes");
  return fields;
}

void RefuseItemQuestions(const ItemQuestions& questions) {
  if (!questions.contributions && !questions.graph) return;
  throw Error(ErrorKind::kInput, fmt::format("{} is for items; leave it out",
                                             questions.contributions ? "contributions" : "graph"));
}

bool TakeFusionItems(Json* body, const std::string& name, EncoderRequest* asked) {
  if (!body->is_object() || !body->contains(kItem)) return false;
  for (const std::string& other : {name, std::string("picture")}) {
    if (body->contains(other))
      Refuse(fmt::format("{} and {} are given; leave out one", other, kItem));
  }
  const Json given = std::move((*body)[kItem]);
  body->erase(kItem);
  asked->reads = EncoderReads::kItems;
  if (!given.is_array()) {
    asked->items.push_back(ItemFrom(given, kItem));
    return true;
  }
  for (const Json& each : given) {
    asked->items.push_back(ItemFrom(each, fmt::format("{} {}", kItem, asked->items.size() + 1)));
  }
  return true;
}

Json FusionItemSchemas() {
  Json one = openapi::Reference("Item");
  return {{kItem,
           {{"description",
             "in place of text, for a model that reads text, pictures and links: what to classify"},
            {"oneOf", {one, {{"type", "array"}, {"minItems", 1}, {"items", one}}}}}}};
}

void AskAboutItems(const ItemQuestions& questions, int64_t top, EncoderRequest* asked) {
  const int64_t numbers = (questions.attention ? kNumbersOfAttention : 0) +
                          (questions.graph ? 3 * GraphNeighbours::kMostTriples : 0);
  asked->answer_items = (top + numbers) * asked->count();
  asked->call = {fmt::format("classify items {} {} {} {}", top, questions.attention,
                             questions.contributions, questions.graph),
                 [questions, top](const ServedEncoder& model, std::span<EncoderText* const> texts) {
                   return static_cast<const ServedItems&>(model).Classify(texts, questions, top);
                 }};
}

}  // namespace attend
