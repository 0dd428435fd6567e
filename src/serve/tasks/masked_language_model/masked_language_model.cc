#include "serve/tasks/masked_language_model/masked_language_model.h"

#include <fmt/format.h>

#include "serve/json_request.h"
#include "serve/openapi.h"
#include "tasks/masked_language_model/filled_json.h"
#include "tasks/masked_language_model/text_encoder_options.h"
#include "text/mask_token.h"

namespace attend {
namespace {

constexpr const char* kFillRoute = "/v1/fill";

int64_t MasksIn(const std::string& text) {
  int64_t count = 0;
  for (const std::string_view token : {kMaskToken, kOtherMaskToken})
    for (size_t at = 0; (at = text.find(token, at)) != std::string::npos; ++at) ++count;
  return count;
}

std::vector<Json> Fill(const ServedEncoder& model, std::span<EncoderText* const> texts,
                       int64_t top) {
  const std::vector<FilledText> filled = model.encoder().Fill(TextsOf(texts), top);
  std::vector<Json> answers;
  for (size_t i = 0; i < texts.size(); ++i)
    answers.push_back(FilledToJson(texts[i]->text, filled[i]));
  return answers;
}

FieldList FillFields(EncoderRequest* asked, FillOptions* options) {
  FieldList fields = Fields(*options);
  fields.Nest("", CommonFields(asked));
  return fields;
}

EncoderRequest ReadFill(Json body) {
  EncoderRequest asked;
  asked.texts = TakeTexts(&body, "text");
  FillOptions options;
  FieldsFromJson(body, FillFields(&asked, &options), "request body");
  const int64_t top = options.top;
  for (const std::string& text : asked.texts) asked.answer_items += top * MasksIn(text);
  asked.call = {fmt::format("fill {}", top),
                [top](const ServedEncoder& model, std::span<EncoderText* const> texts) {
                  return Fill(model, texts, top);
                }};
  return asked;
}

void DescribeFill(const ModelStore& models, Json* document) {
  Json& schemas = (*document)["components"]["schemas"];
  schemas.update(openapi::FileOf("masked_language_model_openapi.json"));
  EncoderRequest asked;
  FillOptions options;
  Json text = openapi::TextOrMoreTexts("with [MASK] where a token is wanted");
  text["oneOf"][0]["pattern"] = text["oneOf"][1]["items"]["pattern"] = R"(\[MASK\])";
  Json& request = schemas["FillRequest"];
  request =
      openapi::RequestSchema({{"text", text}}, FillFields(&asked, &options), models, kFillRoute);
  request["required"] = {"text"};
  (*document)["paths"][kFillRoute]["post"] =
      EncoderOperation("tell what fits where [MASK] stands", "FillRequest", "FillResults");
}

}  // namespace

std::shared_ptr<ServedModel> ServeMaskedLanguageModel(const ModelToServe& model,
                                                      const ServeOptions& options, WorkPool* pool) {
  std::vector<std::string> routes = {kEmbeddingsRoute};
  if (model.loaded->config().head == HeadKind::kVocabulary)
    routes.insert(routes.begin(), kFillRoute);
  return std::make_shared<ServedEncoder>(model, routes, options, pool);
}

EncoderRoute MaskedLanguageModelRoute() {
  return {kFillRoute, ReadFill, ResultsToJson, DescribeFill};
}

}  // namespace attend
