#include "serve/openapi.h"

#include <cmath>

#include "base/json.h"

namespace attend {
namespace {

Json SchemaOf(const Field& field) {
  Json schema;
  if (const auto* choice = std::get_if<EnumField>(&field.value)) {
    schema["type"] = "string";
    schema["enum"] = choice->names;
  } else if (field.IsBool()) {
    schema["type"] = "boolean";
  } else if (field.IsText()) {
    schema["type"] = "string";
  } else {
    schema["type"] = std::holds_alternative<int64_t*>(field.value) ? "integer" : "number";
    if (std::isfinite(field.min)) schema["minimum"] = field.min;
    if (std::isfinite(field.max)) schema["maximum"] = field.max;
  }
  schema["description"] = field.help;
  return schema;
}

Json TextOrTexts() {
  return Json::parse(R"({"oneOf": [{"type": "string"},
                                   {"type": "array", "items": {"type": "string"}}]})");
}

Json NativeRequest(const ServeOptions& options) {
  RequestOptions asked;
  asked.translation = options.translation;
  Json properties;
  properties["text"] = TextOrTexts();
  properties["text"]["description"] = "what to translate";
  const FieldList fields = Fields(asked);
  const Json defaults = FieldsToJson(fields);
  for (const Field& field : fields.fields()) {
    properties[field.name] = SchemaOf(field);
    properties[field.name]["default"] = defaults[field.name];
  }
  properties["beam_size"]["maximum"] = options.max_beam_size;
  Json& splitting =
      properties["split_sentences"];  // older clients say true (always) and false (never)
  splitting["type"] = {"string", "boolean"};
  splitting["enum"].insert(splitting["enum"].end(), {true, false});
  splitting["description"] =
      splitting["description"].get<std::string>() + "; true is always, false is never";
  return {{"type", "object"},
          {"required", {"text"}},
          {"additionalProperties", false},
          {"properties", properties}};
}

// Everything that hangs on no option; {} stands for what is filled in.
Json Skeleton() {
  return Json::parse(R"json({
"openapi": "3.1.0",
"info": {"title": "attend", "version": "1", "description": "All routes but /v1, /health, /metrics and this are LibreTranslate's."},
"components": {
  "schemas": {
    "Error": {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}},
    "Event": {"type": "object", "required": ["event", "data"], "properties": {"event": {"enum": ["sentence", "done", "error"]}, "data": {"type": "string", "description": "JSON"}}},
    "Weights": {"type": "array", "description": "[layers][heads][queries][keys]", "items": {"type": "array"}},
    "Hypothesis": {"type": "object", "required": ["text", "score", "log_probability", "finished"], "properties": {
      "text": {"type": "string"},
      "score": {"type": ["number", "null"], "description": "log_probability divided by the length penalty"},
      "log_probability": {"type": ["number", "null"], "description": "natural; null: no output is possible"},
      "finished": {"type": "boolean", "description": "false: cut at max_length"}, "alignment": {"type": "array", "description": "[source word, target word], from 0", "items": {"type": "array", "items": {"type": "integer"}}},
      "attention": {"type": "object", "description": "where it was asked for; target rows begin with bos, source keys end with eos", "properties": {
        "target_pieces": {"type": "array", "items": {"type": "string"}},
        "decoder_self": {"$ref": "#/components/schemas/Weights"},
        "cross": {"$ref": "#/components/schemas/Weights"}}}}},
    "Sentence": {"type": "object", "required": ["source", "hypotheses"], "properties": {
      "source": {"type": "string"},
      "hypotheses": {"type": "array", "description": "of different texts, n_best at most, the best first", "items": {"$ref": "#/components/schemas/Hypothesis"}},
      "attention": {"type": "object", "description": "of the source, which ends with eos", "properties": {
        "source_pieces": {"type": "array", "items": {"type": "string"}},
        "encoder_self": {"$ref": "#/components/schemas/Weights"}}}}},
    "Translations": {"type": "object", "required": ["model", "translations"], "properties": {
      "model": {"type": "string"},
      "translations": {"type": "array", "description": "one for each text", "items": {"type": "object", "required": ["text", "finished", "sentences"], "properties": {
        "text": {"type": "string"},
        "finished": {"type": "boolean", "description": "false: a sentence's translation was cut"},
        "sentences": {"type": "array", "items": {"$ref": "#/components/schemas/Sentence"}}}}}}},
    "Models": {"type": "object", "required": ["models"], "properties": {"models": {"type": "array", "items": {"type": "object", "required": ["name", "source", "target"], "properties": {
      "name": {"type": "string"}, "source": {"type": "string"}, "target": {"type": "string"},
      "encoder_layers": {"type": "integer"}, "encoder_heads": {"type": "integer"}, "decoder_layers": {"type": "integer"},
      "decoder_heads": {"type": "integer"}, "beam_size": {"type": "integer", "description": "of requests that do not name one"}}}}}}
  }, "responses": {
    "Error": {"description": "what was wrong, and the cure", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}},
    "Busy": {"description": "429: this client asks too often; 503: too much waits, or the server stops", "headers": {"Retry-After": {"description": "seconds", "schema": {"type": "integer"}}}, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}},
  "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}
},
"paths": {}
})json");
}

// What LibreTranslate's routes take and give.
Json LibreSchemas() {
  return Json::parse(R"json({
    "LibreRequest": {"type": "object", "description": "q and target must stand here or in the query", "properties": {
      "q": {},
      "source": {"type": ["string", "null"], "default": "auto", "description": "a language, or auto"},
      "target": {"type": ["string", "null"]},
      "format": {"type": ["string", "null"], "enum": ["text", "html", null], "default": "text"},
      "alternatives": {"type": ["integer", "null"], "minimum": 0, "default": 0},
      "model": {"type": ["string", "null"], "description": "its name, where several are for these languages; else the first of them answers"},
      "api_key": {"type": ["string", "null"]}}},
    "LibreTranslation": {"type": "object", "required": ["translatedText"], "properties": {
      "translatedText": {}, "alternatives": {"type": "array"}, "detectedLanguage": {}}},
    "Languages": {"type": "array", "items": {"type": "object", "required": ["code", "name", "targets"], "properties": {
      "code": {"type": "string"}, "name": {"type": "string"}, "targets": {"type": "array", "items": {"type": "string"}}}}},
    "FileRequest": {"type": "object", "description": "target must stand here or in the query", "required": ["file"], "properties": {
      "file": {"type": "string", "format": "binary", "description": "UTF-8, named .txt, .html or .htm"},
      "source": {"type": "string", "default": "auto", "description": "a language, or auto"},
      "target": {"type": "string"}, "model": {"type": "string"}, "api_key": {"type": "string"}}},
    "TranslatedFile": {"type": "object", "required": ["translatedFileUrl"], "properties": {
      "translatedFileUrl": {"type": "string", "description": "kept for ten minutes"}}},
    "Detections": {"type": "array", "description": "at most three, the surest first", "items": {"type": "object", "required": ["confidence", "language"], "properties": {
      "confidence": {"type": "number", "minimum": 0, "maximum": 100, "description": "percent of the text; half of it where the text is too short to be sure; 0: a mere guess"},
      "language": {"type": "string"}}}},
    "DetectRequest": {"type": "object", "description": "q must stand here or in the query", "properties": {"q": {"type": ["string", "null"]}, "api_key": {"type": ["string", "null"]}}}
})json");
}

Json Content(const std::string& type, Json schema) {
  return {{"content", {{type, {{"schema", std::move(schema)}}}}}};
}

Json Reference(const std::string& schema) { return {{"$ref", "#/components/schemas/" + schema}}; }

// One operation; refused with each of `errors`.
Json Operation(const std::string& summary, Json answer, const std::vector<int>& errors) {
  answer["description"] = summary;
  Json operation;
  operation["summary"] = summary;
  operation["responses"]["200"] = std::move(answer);
  for (const int status : errors) {
    const bool busy = status == 429 || status == 503;
    operation["responses"][std::to_string(status)] = {
        {"$ref", busy ? "#/components/responses/Busy" : "#/components/responses/Error"}};
  }
  return operation;
}

constexpr const char* kMultipart = "multipart/form-data";

// Of the types that LibreTranslate's routes take.
Json AnyBody(const std::string& schema) {
  Json body;
  for (const char* type : {"application/json", "application/x-www-form-urlencoded", kMultipart}) {
    body["content"][type] = {{"schema", Reference(schema)}};
  }
  return body;
}

// The members of its body may stand in the query too, but files.
Json OrInQuery(Json operation, const Json& schema) {
  for (const auto& [name, member] : schema["properties"].items()) {
    if (member.contains("format")) continue;
    operation["parameters"].push_back({{"name", name},
                                       {"in", "query"},
                                       {"required", false},
                                       {"description", "counts where the body has no such member"},
                                       {"schema", {{"type", "string"}}}});
  }
  operation["requestBody"]["required"] = schema.contains("required");
  return operation;
}

Json Download() {
  Json operation = Operation("a translated file",
                             Content("application/octet-stream", {{"type", "string"}}), {404});
  operation["parameters"] = Json::array(
      {{{"name", "name"}, {"in", "path"}, {"required", true}, {"schema", {{"type", "string"}}}}});
  return operation;
}

Json Translating(Json operation, Json body) {
  operation["security"] = Json::array({{{"key", Json::array()}}, Json::object()});
  operation["requestBody"] = std::move(body);
  operation["requestBody"]["required"] = true;
  return operation;
}

}  // namespace

std::string OpenApiDocument(const ServeOptions& options) {
  const std::string json = "application/json";
  const std::vector<int> refusals = {400, 403, 413, 415, 429, 500, 503, 504};
  Json document = Skeleton();
  Json& schemas = document["components"]["schemas"];
  schemas["NativeRequest"] = NativeRequest(options);
  schemas.update(LibreSchemas());
  schemas["LibreRequest"]["properties"]["q"] = TextOrTexts();
  schemas["LibreRequest"]["properties"]["q"]["oneOf"].push_back({{"type", "null"}});
  schemas["LibreTranslation"]["properties"]["translatedText"] = TextOrTexts();
  Json& paths = document["paths"];
  const Json any = {{"type", "object"}};
  paths["/health"]["get"] = Operation("the server runs", Content(json, any), {503});
  paths["/metrics"]["get"] =
      Operation("metrics for Prometheus", Content("text/plain", {{"type", "string"}}), {});
  paths["/openapi.json"]["get"] = Operation("this description", Content(json, any), {});
  paths["/v1/models"]["get"] = Operation("the models", Content(json, Reference("Models")), {});
  Json answer = Content(json, Reference("Translations"));
  answer["content"]["text/event-stream"] = {{"schema", Reference("Event")}};
  paths["/v1/translate"]["post"] = Translating(Operation("translate", std::move(answer), refusals),
                                               Content(json, Reference("NativeRequest")));
  paths["/languages"]["get"] =
      Operation("the languages", Content(json, Reference("Languages")), {});
  paths["/frontend/settings"]["get"] = Operation("what a page needs", Content(json, any), {});
  paths["/translate"]["post"] = OrInQuery(
      Translating(Operation("translate", Content(json, Reference("LibreTranslation")), refusals),
                  AnyBody("LibreRequest")),
      schemas["LibreRequest"]);
  paths["/translate_file"]["post"] = OrInQuery(
      Translating(
          Operation("translate a file", Content(json, Reference("TranslatedFile")), refusals),
          Content(kMultipart, Reference("FileRequest"))),
      schemas["FileRequest"]);
  paths["/download_file/{name}"]["get"] = Download();
  paths["/detect"]["post"] = OrInQuery(
      Translating(Operation("the language of a text", Content(json, Reference("Detections")),
                            {400, 403, 413, 415, 429, 500, 501, 503, 504}),
                  AnyBody("DetectRequest")),
      schemas["DetectRequest"]);
  paths["/suggest"]["post"] =
      Operation("refused: suggestions are not taken", Content(json, any), {403});
  return document.dump(1);
}

}  // namespace attend
