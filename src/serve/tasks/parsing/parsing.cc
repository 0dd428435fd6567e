#include "serve/tasks/parsing/parsing.h"

#include <fmt/format.h>

#include "attend/tagger.h"
#include "serve/json_request.h"
#include "serve/openapi.h"
#include "serve/tasks/words_request.h"
#include "tasks/parsing/parsed_json.h"
#include "tasks/parsing/parsing_options.h"

namespace attend {
namespace {

constexpr const char* kParseRoute = "/v1/parse";

class ServedParser final : public ServedEncoder {
 public:
  ServedParser(const ModelToServe& model, const ServeOptions& options, WorkPool* pool)
      : ServedEncoder(model, {kParseRoute}, options, pool), parser_(loaded(), pool->size()) {}
  ~ServedParser() override { Stop(); }

  // `words`: they are divided already.
  std::vector<Json> Parse(std::span<EncoderText* const> texts, bool words,
                          const ParsingOptions& options) const {
    const std::vector<ParsedText> parsed = words ? parser_.ParseWords(WordsOf(texts), options)
                                                 : parser_.Parse(TextsOf(texts), options);
    std::vector<Json> answers;
    for (size_t i = 0; i < texts.size(); ++i) {
      Json& answer = answers.emplace_back(ParsedToJson(parsed[i]));
      answer["text"] = texts[i]->text;
    }
    return answers;
  }

 private:
  const Parser parser_;
};

FieldList ParseFields(EncoderRequest* asked, ParsingOptions* options) {
  FieldList fields = Fields(*options);
  fields.Nest("", CommonFields(asked));
  return fields;
}

EncoderRequest ReadParse(Json body) {
  EncoderRequest asked;
  const bool words = TakeTextsOrWords(&body, &asked);
  ParsingOptions options;
  FieldsFromJson(body, ParseFields(&asked, &options), "request body");
  asked.call = {fmt::format("parse {} {}", words, FieldsToJson(Fields(options)).dump()),
                [words, options](const ServedEncoder& model, std::span<EncoderText* const> texts) {
                  return static_cast<const ServedParser&>(model).Parse(texts, words, options);
                }};
  return asked;
}

void DescribeParse(const ModelStore& models, Json* document) {
  Json& schemas = (*document)["components"]["schemas"];
  schemas.update(openapi::FileOf("parsing_openapi.json"));
  EncoderRequest asked;
  ParsingOptions options;
  Json& request = schemas["ParseRequest"];
  request = openapi::RequestSchema(TextOrWords("sentences to parse"), ParseFields(&asked, &options),
                                   models, kParseRoute);
  RequireTextOrWords(&request);
  (*document)["paths"][kParseRoute]["post"] =
      EncoderOperation("build the constituency trees of sentences", "ParseRequest", "ParseResults");
}

}  // namespace

std::shared_ptr<ServedModel> ServeParsing(const ModelToServe& model, const ServeOptions& options,
                                          WorkPool* pool) {
  return std::make_shared<ServedParser>(model, options, pool);
}

EncoderRoute ParsingRoute() { return {kParseRoute, ReadParse, ResultsToJson, DescribeParse}; }

}  // namespace attend
