#include "serve/tasks/tagging/tagging.h"

#include <fmt/format.h>

#include <utility>

#include "attend/error.h"
#include "attend/tagger.h"
#include "serve/json_request.h"
#include "serve/openapi.h"
#include "serve/tasks/embeddings/embeddings.h"
#include "tasks/tagging/tagged_json.h"
#include "text/text_words.h"

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
  static std::vector<std::vector<std::string>> WordsOf(std::span<EncoderText* const> texts) {
    std::vector<std::vector<std::string>> words;
    for (const EncoderText* text : texts) words.push_back(text->words);
    return words;
  }

  const Tagger tagger_;
  const bool entities_;
};

[[noreturn]] void RefuseWords() {
  throw Error(ErrorKind::kInput,
              "request body: expected words as a list of texts that are not empty, or a list of "
              "such lists");
}

std::vector<std::string> ReadWords(const Json& given) {
  std::vector<std::string> words;
  for (const Json& word : given) {
    if (!word.is_string() || word.get_ref<const std::string&>().empty()) RefuseWords();
    words.push_back(word.get<std::string>());
  }
  if (words.empty()) RefuseWords();
  return words;
}

// Takes `words` out of the body: of one sentence, or of several. The texts are the words joined by
// blanks, as their positions count.
void TakeWords(Json* body, EncoderRequest* asked) {
  const Json given = std::move((*body)["words"]);
  body->erase("words");
  if (!given.is_array() || given.empty()) RefuseWords();
  const bool several = given[0].is_array();
  for (const Json& sentence : several ? given : Json::array({given})) {
    if (!sentence.is_array()) RefuseWords();
    asked->words.push_back(ReadWords(sentence));
    asked->texts.push_back(JoinWords(asked->words.back()));
  }
}

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
  const bool words = body.contains("words");
  if (words && body.contains("text")) {
    throw Error(ErrorKind::kInput, "request body: it has text and words; leave out one");
  }
  if (!words && !body.contains("text"))
    throw Error(ErrorKind::kInput, "request body: expected an object with text or words");
  if (words) {
    TakeWords(&body, &asked);
  } else {
    asked.texts = TakeTexts(&body, "text");
  }
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
  const Json list = {
      {"type", "array"}, {"items", {{"type", "string"}, {"minLength", 1}}}, {"minItems", 1}};
  const Json inputs = {
      {"text", openapi::TextOrMoreTexts("what to tag")},
      {"words",
       {{"oneOf", {list, {{"type", "array"}, {"items", list}, {"minItems", 1}}}},
        {"description",
         "in place of text: words that are divided already, of one text or several"}}}};
  Json& request = schemas["TagRequest"];
  request = openapi::RequestSchema(inputs, TagFields(&asked, &word_labels), models, kTagRoute);
  request["oneOf"] = Json::array({{{"required", {"text"}}}, {{"required", {"words"}}}});
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
