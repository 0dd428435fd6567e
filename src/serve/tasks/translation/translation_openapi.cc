#include "serve/tasks/translation/translation_openapi.h"

#include <algorithm>
#include <set>

#include "serve/openapi.h"
#include "serve/tasks/translation/alternatives_api.h"
#include "serve/tasks/translation/libre_requests.h"
#include "serve/tasks/translation/model_choice.h"
#include "serve/tasks/translation/request_options.h"

namespace attend {
namespace {

using openapi::Content, openapi::Operation, openapi::Reference, openapi::TextOrTexts,
    openapi::WithBody;

// The values that source, target and model can have: those of the models there are. Codes of
// languages are taken in capitals and with regions too.
class Choices {
 public:
  explicit Choices(const ModelStore& models) {
    for (const auto& model : Translators(models)) {
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

// With what the server gives who names nothing.
void AddFields(const FieldList& fields, Json* properties) {
  const Json defaults = FieldsToJson(fields);
  for (const Field& field : fields.fields()) {
    (*properties)[field.name] = openapi::SchemaOf(field);
    (*properties)[field.name]["default"] = defaults[field.name];
  }
}

Json AlternativesSchema(const ServeOptions& options, const Choices& choices) {
  AlternativesRequest asked{.options = UsualRequest(options)};
  asked.count = std::min(asked.count, options.max_beam_size);
  Json properties;
  properties["text"] = {{"type", "string"}, {"description", "one line, which is not divided"}};
  properties["target_prefix"] = {
      {"type", "string"},
      {"description", "whole words that the translation begins with; empty: none"},
      {"default", ""}};
  AddFields(Fields(asked), &properties);
  for (const char* name : {"beam_size", "count"})
    properties[name]["maximum"] = options.max_beam_size;
  choices.SetIn(&properties, false);
  return {{"type", "object"},
          {"required", {"text"}},
          {"additionalProperties", false},
          {"properties", properties}};
}

// "" is none.
void SetNames(const Memories& memories, Json* schema) {
  Json names = Json::array({""});
  for (const auto& [name, _] : memories.all()) names.push_back(name);
  (*schema)["enum"] = std::move(names);
  (*schema)["x-of-models"] = true;
}

Json NativeRequest(const ServeOptions& options, const Choices& choices, const Memories& memories) {
  RequestOptions asked = UsualRequest(options);
  Json properties;
  properties["text"] = TextOrTexts();
  properties["text"]["description"] = "what to translate";
  AddFields(Fields(asked), &properties);
  properties["target_prefix"] = TextOrTexts();
  properties["target_prefix"]["description"] =
      "whole words that the translation begins with, of all texts or of each; a text that has them "
      "is one line and is not divided; empty: none";
  properties["beam_size"]["maximum"] = options.max_beam_size;
  Json& splitting =
      properties["split_sentences"];  // older clients say true (always) and false (never)
  splitting["type"] = {"string", "boolean"};
  splitting["enum"].insert(splitting["enum"].end(), {true, false});
  splitting["description"] =
      splitting["description"].get<std::string>() + "; true is always, false is never";
  for (const char* name : {"n_best", "mbr_samples", "beam_groups"})
    properties[name]["maximum"] = options.max_beam_size;
  choices.SetIn(&properties, false);
  SetNames(memories, &properties["memory"]);
  return {{"type", "object"},
          {"required", {"text"}},
          {"additionalProperties", false},
          {"properties", properties}};
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
  Json& libre = (*schemas)["LibreRequest"]["properties"];
  libre["q"] = TextOrTexts();
  libre["alternatives"] = Alternatives(MostAlternatives(options));
  choices.SetIn(&libre, true);
  choices.SetIn(&(*schemas)["FileRequest"]["properties"], false);
  for (const char* name : {"LibreRequest", "DetectRequest"}) {
    (*schemas)[std::string(name) + "Form"] = AsForm((*schemas)[name]);
  }
}

constexpr const char* kMultipart = "multipart/form-data";

std::vector<int> Refusals() { return {400, 403, 413, 415, 421, 429, 500, 503, 504}; }

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

void DescribeNative(Json* paths) {
  const std::string json = "application/json";
  Json answer = Content(json, Reference("Translations"));
  answer["content"]["text/event-stream"] = {{"schema", Reference("Event")}};
  (*paths)[kTranslateRoute]["post"] =
      WithBody(Operation("translate", std::move(answer), Refusals()),
               Content(json, Reference("NativeRequest")));
  (*paths)[kAlternativesRoute]["post"] =
      WithBody(Operation("what a translation may have at a position",
                         Content(json, Reference("Alternatives")), Refusals()),
               Content(json, Reference("AlternativesRequest")));
}

void DescribeMemories(Json* paths) {
  (*paths)[kMemoriesRoute]["get"] =
      Operation("the translation memories", Content("application/json", Reference("Memories")), {});
}

// 501: documents need the Python package.
void DescribeFiles(Json* paths) {
  const std::string json = "application/json";
  const std::vector<int> refusals = {400, 403, 413, 415, 421, 429, 500, 501, 503, 504};
  (*paths)["/v1/check_file"]["post"] =
      WithBody(Operation("whether /translate_file takes a file; an empty object if it does",
                         Content(json, {{"type", "object"}}), refusals),
               Content(kMultipart, Reference("FileBeginning")));
  Json answer = Content(json, Reference("TranslatedFile"));
  answer["content"]["text/event-stream"] = {{"schema", Reference("FileEvent")}};
  (*paths)["/translate_file"]["post"] =
      WithBody(Operation("translate a file", std::move(answer), refusals),
               Content(kMultipart, Reference("FileRequest")));
  (*paths)["/download_file/{name}"]["get"] = Download();
}

void DescribeLibre(Json* paths) {
  const std::string json = "application/json";
  const Json any = {{"type", "object"}};
  (*paths)["/languages"]["get"] =
      Operation("the languages", Content(json, Reference("Languages")), {});
  (*paths)["/frontend/settings"]["get"] = Operation("what a page needs", Content(json, any), {});
  (*paths)["/translate"]["post"] =
      WithBody(Operation("translate", Content(json, Reference("LibreTranslation")), Refusals()),
               AnyBody("LibreRequest"));
  (*paths)["/detect"]["post"] =
      WithBody(Operation("the language of a text", Content(json, Reference("Detections")),
                         {400, 403, 413, 415, 421, 429, 500, 501, 503, 504}),
               AnyBody("DetectRequest"));
  (*paths)["/suggest"]["post"] =
      Operation("refused: this service accepts no suggestions", Content(json, any), {403});
}

}  // namespace

void DescribeTranslation(const ServeOptions& options, const ModelStore& models,
                         const ServedGlossaries& glossaries, const Memories& memories,
                         Json* document) {
  const Choices choices(models);
  Json& schemas = (*document)["components"]["schemas"];
  schemas.update(openapi::FileOf("translation_openapi.json"));
  schemas["AlternativesRequest"] = AlternativesSchema(options, choices);
  schemas["NativeRequest"] = NativeRequest(options, choices, memories);
  for (const char* name : {"AlternativesRequest", "NativeRequest"})
    schemas[name]["properties"]["glossary"] = glossaries.Schema();
  AddLibreSchemas(options, choices, &schemas);
  Json& file = schemas["FileRequest"]["properties"];
  file["glossary"] = glossaries.Schema();
  file["glossary"]["description"] =
      file["glossary"]["description"].get<std::string>() + "; here a list is one text of JSON";
  SetNames(memories, &file["memory"]);
  schemas["LibreTranslation"]["properties"]["translatedText"] = TextOrTexts();
  DescribeNative(&(*document)["paths"]);
  DescribeLibre(&(*document)["paths"]);
  DescribeMemories(&(*document)["paths"]);
  DescribeFiles(&(*document)["paths"]);
}

}  // namespace attend
