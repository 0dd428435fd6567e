#include "serve/tasks/tagging/tagging.h"

#include <fmt/format.h>

#include <utility>

#include "attend/tagger.h"
#include "serve/json_request.h"
#include "serve/openapi.h"
#include "serve/tasks/words_request.h"
#include "tasks/tagging/tagged_json.h"

namespace attend {
namespace {

constexpr const char* kTagRoute = "/v1/tag";

class ServedTagger final : public ServedEncoder {
 public:
  ServedTagger(const ModelToServe& model, const ServeOptions& options, WorkPool* pool)
      : ServedEncoder(model, {kTagRoute, kEmbeddingsRoute}, options, pool),
        tagger_(loaded(), kCallersThread),
        entities_(LabelsEntities(tagger_)) {}
  ~ServedTagger() override { Stop(); }

  // `words`: they are divided already.
  std::vector<Json> Tag(std::span<EncoderText* const> texts, bool words, bool word_labels) const {
    const std::vector<TaggedText> tagged =
        words ? tagger_.TagWords(WordsOf(texts)) : tagger_.Tag(TextsOf(texts));
    std::vector<Json> answers;
    for (size_t i = 0; i < texts.size(); ++i)
      answers.push_back(TaggedToJson(texts[i]->text, tagged[i], word_labels || !entities_));
    return answers;
  }

 private:
  const Tagger tagger_;
  const bool entities_;
};

FieldList TagFields(EncoderRequest* asked, bool* word_labels) {
  FieldList fields;
  fields
      .Add("word_labels", word_labels,
           "tell the label of each word, too; a model whose labels are not of entities always does")
      .Nest("", CommonFields(asked));
  return fields;
}

EncoderRequest ReadTag(Json body) {
  EncoderRequest asked;
  const bool words = TakeTextsOrWords(&body, &asked);
  bool word_labels = false;
  FieldsFromJson(body, TagFields(&asked, &word_labels), "request body");
  asked.call = {
      fmt::format("tag {} {}", words, word_labels),
      [words, word_labels](const ServedEncoder& model, std::span<EncoderText* const> texts) {
        return static_cast<const ServedTagger&>(model).Tag(texts, words, word_labels);
      }};
  return asked;
}

void DescribeTag(const ModelStore& models, Json* document) {
  Json& schemas = (*document)["components"]["schemas"];
  schemas.update(openapi::FileOf("tagging_openapi.json"));
  EncoderRequest asked;
  bool word_labels = false;
  Json& request = schemas["TagRequest"];
  request = openapi::RequestSchema(TextOrWords("what to tag"), TagFields(&asked, &word_labels),
                                   models, kTagRoute);
  RequireTextOrWords(&request);
  (*document)["paths"][kTagRoute]["post"] =
      EncoderOperation("label the entities in texts", "TagRequest", "TagResults");
}

}  // namespace

std::shared_ptr<ServedModel> ServeTagging(const ModelToServe& model, const ServeOptions& options,
                                          WorkPool* pool) {
  return std::make_shared<ServedTagger>(model, options, pool);
}

EncoderRoute TaggingRoute() { return {kTagRoute, ReadTag, ResultsToJson, DescribeTag}; }

}  // namespace attend
