#include "serve/openapi.h"

#include <cmath>
#include <set>

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

// The values that source, target and model can have: those of the models there are. Codes of
// languages are taken in capitals and with regions too.
class Choices {
 public:
  explicit Choices(const ModelStore& models) {
    for (const auto& model : models.models()) {
      names_.insert(model->name());
      if (!model->source().empty()) sources_.insert(model->source());
      if (!model->target().empty()) targets_.insert(model->target());
    }
    sources_.insert("auto");
  }

  // With null where a request may give that instead.
  void SetIn(Json* properties, bool nullable) const {
    Set(sources_, nullable, &(*properties)["source"]);
    Set(targets_, false, &(*properties)["target"]);
    Set(names_, nullable, &(*properties)["model"]);
  }

 private:
  static void Set(const std::set<std::string>& values, bool nullable, Json* schema) {
    Json all = Json::array({""});
    for (const std::string& value : values) all.push_back(value);
    if (nullable) all.push_back(nullptr);
    (*schema)["enum"] = std::move(all);
    (*schema)["x-of-models"] = true;
  }

  std::set<std::string> names_, sources_, targets_;
};

Json NativeRequest(const ServeOptions& options, const Choices& choices) {
  RequestOptions asked;
  asked.translation = options.translation;
  asked.protect = options.translator.protect;
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
  properties["n_best"]["maximum"] = options.max_beam_size;
  choices.SetIn(&properties, false);
  return {{"type", "object"},
          {"required", {"text"}},
          {"additionalProperties", false},
          {"properties", properties}};
}

// Everything that hangs on no option; {} stands for what is filled in.
Json Skeleton() {
  return Json::parse(R"json({
"openapi": "3.1.0",
"info": {"title": "attend", "version": "1", "description": "All routes but /v1, /health, /metrics and this are LibreTranslate's. A Host that is not allowed gets 421 everywhere."},
"components": {
  "schemas": {
    "Error": {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}},
    "Event": {"type": "object", "required": ["event", "data"], "properties": {"event": {"enum": ["sentence", "done", "error"]}, "data": {"type": "string", "description": "JSON"}}},
    "Weights": {"type": "array", "description": "[layers][heads][queries][keys]", "items": {"type": "array"}},
    "Hypothesis": {"type": "object", "required": ["text", "score", "log_probability", "finished"], "properties": {
      "text": {"type": "string"},
      "score": {"type": ["number", "null"], "description": "log_probability divided by the length penalty"},
      "log_probability": {"type": ["number", "null"], "description": "natural; null: no output is possible"},
      "finished": {"type": "boolean", "description": "false: cut at max_length"},
      "protected_spans": {"type": "integer", "description": "spans of the source to be copied exactly"},
      "protected_kept": {"type": "integer", "description": "those that stand in the text exactly once"}, "alignment": {"type": "array", "description": "[source word, target word], from 0", "items": {"type": "array", "items": {"type": "integer"}}},
      "attention": {"type": "object", "description": "where it was asked for; target rows begin with bos, source keys end with eos", "properties": {
        "target_pieces": {"type": "array", "items": {"type": "string"}},
        "decoder_self": {"$ref": "#/components/schemas/Weights"},
        "cross": {"$ref": "#/components/schemas/Weights"}}}}},
    "Sentence": {"type": "object", "required": ["source", "unknown_characters", "hypotheses"], "properties": {
      "source": {"type": "string"},
      "unknown_characters": {"type": "integer", "description": "characters of the source that the model's vocabulary lacks"},
      "hypotheses": {"type": "array", "description": "of different texts, n_best at most, the best first", "items": {"$ref": "#/components/schemas/Hypothesis"}},
      "attention": {"type": "object", "description": "of the source, which ends with eos", "properties": {
        "source_pieces": {"type": "array", "items": {"type": "string"}},
        "encoder_self": {"$ref": "#/components/schemas/Weights"}}}}},
    "Translations": {"type": "object", "required": ["model", "translations"], "properties": {
      "model": {"type": "string", "description": "the first text's"},
      "translations": {"type": "array", "description": "one for each text", "items": {"type": "object", "required": ["model", "text", "finished", "divided", "unknown_characters", "sentences"], "properties": {
        "model": {"type": "string", "description": "which translated this text"},
        "text": {"type": "string"},
        "finished": {"type": "boolean", "description": "false: a sentence's translation was cut"},
        "divided": {"type": "boolean", "description": "true: a sentence was too long, and was divided between clauses, words or characters"},
        "unknown_characters": {"type": "integer", "description": "characters of the text that the model's vocabulary lacks; the translation loses them"},
        "sentences": {"type": "array", "description": "a part of one that was divided counts as one", "items": {"$ref": "#/components/schemas/Sentence"}}}}}}},
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
    "LibreRequest": {"type": "object", "description": "Members may stand in the query instead; a null counts as missing", "required": ["q", "target"], "properties": {
      "q": {},
      "source": {"type": ["string", "null"], "default": "auto", "description": "a language, or auto"},
      "target": {"type": "string", "description": "a language"},
      "format": {"type": ["string", "null"], "enum": ["text", "html", null], "default": "text"},
      "alternatives": {"default": 0},
      "model": {"type": ["string", "null"], "description": "its name, where several are for these languages; else the first of them answers"},
      "api_key": {"type": ["string", "null"]}}},
    "LibreTranslation": {"type": "object", "required": ["translatedText"], "properties": {
      "translatedText": {}, "alternatives": {"type": "array"}, "detectedLanguage": {"description": "with source auto: {confidence, language}, or for a list of texts one of each"}}},
    "Languages": {"type": "array", "items": {"type": "object", "required": ["code", "name", "targets"], "properties": {
      "code": {"type": "string"}, "name": {"type": "string"}, "targets": {"type": "array", "items": {"type": "string"}}}}},
    "FileRequest": {"type": "object", "description": "Members but file may stand in the query instead", "required": ["file", "target"], "properties": {
      "file": {"type": "string", "contentMediaType": "text/plain", "description": "text in UTF-8; a file's name ends in .txt, .html or .htm, and one without a name is plain text"},
      "source": {"type": "string", "default": "auto", "description": "a language, or auto"},
      "target": {"type": "string", "description": "a language"}, "model": {"type": "string"}, "api_key": {"type": "string"}}},
    "FileBeginning": {"type": "object", "required": ["file"], "properties": {
      "file": {"type": "string", "contentMediaType": "text/plain", "description": "the file, or its first 64 KiB, with its name"},
      "api_key": {"type": "string"}}},
    "TranslatedFile": {"type": "object", "required": ["translatedFileUrl"], "properties": {
      "translatedFileUrl": {"type": "string", "description": "kept for ten minutes"}}},
    "Detections": {"type": "array", "description": "at most three, the most probable first", "items": {"type": "object", "required": ["confidence", "language"], "properties": {
      "confidence": {"type": "number", "minimum": 0, "maximum": 100, "description": "percent of the text; half of it where the text is too short to be sure; 0: a guess"},
      "language": {"type": "string"}}}},
    "DetectRequest": {"type": "object", "description": "Members may stand in the query instead; a null counts as missing", "required": ["q"], "properties": {"q": {"type": "string"}, "api_key": {"type": ["string", "null"]}}}
})json");
}

// In a form, and in JSON as LibreTranslate takes it, a number may be a text.
Json Alternatives(int64_t most) {
  Json number = {{"type", "integer"}, {"minimum", 0}, {"maximum", most}};
  Json texts = Json::array();
  for (int64_t i = 0; i <= most; ++i) texts.push_back(std::to_string(i));
  Json schema;
  schema["oneOf"] = {std::move(number), {{"enum", std::move(texts)}}, {{"type", "null"}}};
  schema["default"] = 0;
  return schema;
}

// A form has texts alone: no null, and no empty list.
Json AsForm(Json schema) {
  schema["description"] = "Several q are a list of texts; members may stand in the query instead";
  for (auto& [name, member] : schema["properties"].items()) {
    if (member.contains("type") && member["type"].is_array()) member["type"] = member["type"][0];
    for (const char* values : {"enum", "oneOf"}) {
      if (!member.contains(values)) continue;
      std::erase_if(member[values].get_ref<Json::array_t&>(), [](const Json& value) {
        return value.is_null() || value == Json{{"type", "null"}};
      });
      for (Json& value : member[values]) {
        if (value.is_object() && value.contains("items")) value["minItems"] = 1;
      }
    }
  }
  return schema;
}

void AddLibreSchemas(const ServeOptions& options, const Choices& choices, Json* schemas) {
  schemas->update(LibreSchemas());
  Json& libre = (*schemas)["LibreRequest"]["properties"];
  libre["q"] = TextOrTexts();
  libre["alternatives"] = Alternatives(options.max_beam_size - 1);
  choices.SetIn(&libre, true);
  choices.SetIn(&(*schemas)["FileRequest"]["properties"], false);
  for (const char* name : {"LibreRequest", "DetectRequest"}) {
    (*schemas)[std::string(name) + "Form"] = AsForm((*schemas)[name]);
  }
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
  body["content"]["application/json"] = {{"schema", Reference(schema)}};
  for (const char* type : {"application/x-www-form-urlencoded", kMultipart}) {
    body["content"][type] = {{"schema", Reference(schema + "Form")}};
  }
  return body;
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

std::string OpenApiDocument(const ServeOptions& options, const ModelStore& models) {
  const Choices choices(models);
  const std::string json = "application/json";
  const std::vector<int> refusals = {400, 403, 413, 415, 421, 429, 500, 503, 504};
  Json document = Skeleton();
  Json& schemas = document["components"]["schemas"];
  schemas["NativeRequest"] = NativeRequest(options, choices);
  AddLibreSchemas(options, choices, &schemas);
  schemas["LibreTranslation"]["properties"]["translatedText"] = TextOrTexts();
  Json& paths = document["paths"];
  const Json any = {{"type", "object"}};
  paths["/health"]["get"] = Operation("the server runs", Content(json, any), {503});
  if (options.http.metrics_address.empty()) {
    paths["/metrics"]["get"] =
        Operation("metrics for Prometheus", Content("text/plain", {{"type", "string"}}), {});
  }
  paths["/openapi.json"]["get"] = Operation("this description", Content(json, any), {});
  paths["/v1/models"]["get"] = Operation("the models", Content(json, Reference("Models")), {});
  Json answer = Content(json, Reference("Translations"));
  answer["content"]["text/event-stream"] = {{"schema", Reference("Event")}};
  paths["/v1/translate"]["post"] = Translating(Operation("translate", std::move(answer), refusals),
                                               Content(json, Reference("NativeRequest")));
  paths["/v1/check_file"]["post"] =
      Translating(Operation("whether /translate_file takes a file; an empty object if it does",
                            Content(json, any), refusals),
                  Content(kMultipart, Reference("FileBeginning")));
  paths["/languages"]["get"] =
      Operation("the languages", Content(json, Reference("Languages")), {});
  paths["/frontend/settings"]["get"] = Operation("what a page needs", Content(json, any), {});
  paths["/translate"]["post"] =
      Translating(Operation("translate", Content(json, Reference("LibreTranslation")), refusals),
                  AnyBody("LibreRequest"));
  paths["/translate_file"]["post"] = Translating(
      Operation("translate a file", Content(json, Reference("TranslatedFile")), refusals),
      Content(kMultipart, Reference("FileRequest")));
  paths["/download_file/{name}"]["get"] = Download();
  paths["/detect"]["post"] =
      Translating(Operation("the language of a text", Content(json, Reference("Detections")),
                            {400, 403, 413, 415, 421, 429, 500, 501, 503, 504}),
                  AnyBody("DetectRequest"));
  paths["/suggest"]["post"] =
      Operation("refused: this service accepts no suggestions", Content(json, any), {403});
  return document.dump(1);
}

}  // namespace attend
