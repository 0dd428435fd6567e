#include "serve/tasks/language_model/language_model.h"

#include "serve/openapi.h"
#include "serve/tasks/language_model/completions.h"
#include "serve/tasks/language_model/served_generator.h"

namespace attend {
namespace {

// Of a request for one of these models.
Json CompletionRequest(const ModelStore& models) {
  CompletionOptions asked;
  const FieldList fields = Fields(asked);
  const Json defaults = FieldsToJson(fields);
  Json properties;
  properties["prompt"] = {{"oneOf",
                           {{{"type", "string"}},
                            {{"type", "array"}, {"items", {{"type", "string"}}}, {"minItems", 1}}}},
                          {"description", "what the texts begin with"}};
  for (const Field& field : fields.fields()) {
    properties[field.name] = openapi::SchemaOf(field);
    properties[field.name]["default"] = defaults[field.name];
  }
  properties["max_tokens"]["minimum"] = 0;
  properties["model"]["enum"] = {""};
  for (const auto& model : models.models()) {
    if (model->config().task == "language_model") {
      properties["model"]["enum"].push_back(model->name());
    }
  }
  properties["model"]["x-of-models"] = true;
  properties["stop"] = openapi::TextOrTexts();
  properties["stop"]["description"] = fields.Find("stop")->help;
  properties["stream_options"] = {
      {"type", "object"},
      {"properties", {{"include_usage", {{"type", "boolean"}}}}},
      {"additionalProperties", false},
      {"description", "include_usage: a last event counts the tokens; with stream alone"}};
  return {{"type", "object"},
          {"required", {"prompt"}},
          {"additionalProperties", false},
          {"properties", properties}};
}

class GeneratingHandler : public TaskHandler {
 public:
  explicit GeneratingHandler(const HandlerContext& context)
      : context_(context), completions_(context) {}

  std::vector<Route> Routes() override { return completions_.Routes(); }
  void Describe(Json* document) const override {
    using openapi::Content, openapi::Reference;
    Json& schemas = (*document)["components"]["schemas"];
    schemas.update(openapi::FileOf("language_model_openapi.json"));
    schemas["CompletionRequest"] = CompletionRequest(context_.models);
    Json answer = Content("application/json", Reference("Completion"));
    answer["content"]["text/event-stream"] = {{"schema", Reference("CompletionEvent")}};
    (*document)["paths"]["/v1/completions"]["post"] = openapi::WithBody(
        openapi::Operation("write on from prompts, as the OpenAI API has it", std::move(answer),
                           {400, 403, 413, 415, 421, 429, 500, 503, 504}),
        Content("application/json", Reference("CompletionRequest")));
  }

 private:
  const HandlerContext context_;
  const Completions completions_;
};

}  // namespace

std::shared_ptr<ServedModel> ServeLanguageModel(const ModelToServe& model,
                                                const ServeOptions& options, WorkPool* pool) {
  return std::make_shared<ServedGenerator>(model, options, pool);
}

std::unique_ptr<TaskHandler> LanguageModelHandler(const HandlerContext& context) {
  return std::make_unique<GeneratingHandler>(context);
}

}  // namespace attend
