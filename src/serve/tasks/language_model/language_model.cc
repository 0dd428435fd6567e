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
  Json prompt = openapi::TextOrMoreTexts("what the texts begin with: texts or token ids");
  const Json ids = {{"type", "array"}, {"items", {{"type", "integer"}, {"minimum", 0}}}};
  Json one_prompt = ids;
  one_prompt["minItems"] = 1;
  prompt["oneOf"].push_back(std::move(one_prompt));
  prompt["oneOf"].push_back({{"type", "array"}, {"items", ids}, {"minItems", 1}});
  Json schema = openapi::RequestSchema({{"prompt", prompt}}, fields, models, kCompletionsRoute);
  schema["required"] = {"prompt"};
  Json& properties = schema["properties"];
  properties["max_tokens"]["minimum"] = 0;
  properties["stop"] = openapi::TextOrTexts();
  properties["stop"]["description"] = fields.Find("stop")->help;
  properties["stream_options"] = {
      {"type", "object"},
      {"properties", {{"include_usage", {{"type", "boolean"}}}}},
      {"additionalProperties", false},
      {"description", "include_usage: a last event counts the tokens; with stream alone"}};
  return schema;
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
    (*document)["paths"][kCompletionsRoute]["post"] = openapi::WithBody(
        openapi::Operation("write on from prompts, as the OpenAI API has it", std::move(answer),
                           openapi::ErrorsOfModels(ErrorForm::kOpenAi), ErrorForm::kOpenAi),
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
