#include "serve/openapi.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "serve/openapi_files.h"

namespace attend {
namespace openapi {

Json FileOf(std::string_view name) {
  const auto files = OpenApiFiles();
  const auto file = std::ranges::find(files, name, &WebFile::name);
  assert(file != files.end() && "src/serve/CMakeLists.txt names every file");
  return Json::parse(file->content);
}

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

Json Content(const std::string& type, Json schema) {
  return {{"content", {{type, {{"schema", std::move(schema)}}}}}};
}

Json TextOrTexts() {
  return Json::parse(R"({"oneOf": [{"type": "string"},
                                   {"type": "array", "items": {"type": "string"}}]})");
}

Json TextOrMoreTexts(const std::string& description) {
  Json schema = TextOrTexts();
  schema["oneOf"][1]["minItems"] = 1;
  schema["description"] = description;
  return schema;
}

Json RequestSchema(Json inputs, const FieldList& fields, const ModelStore& models,
                   const std::string& route) {
  Json properties = std::move(inputs);
  const Json defaults = FieldsToJson(fields);
  for (const Field& field : fields.fields()) {
    properties[field.name] = SchemaOf(field);
    properties[field.name]["default"] = defaults[field.name];
  }
  Json& model = properties["model"];
  model["enum"] = {""};
  for (const auto& each : models.models()) {
    if (each->AnswersAt(route)) model["enum"].push_back(each->name());
  }
  model["x-of-models"] = true;
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", properties}};
}

Json Reference(const std::string& schema) { return {{"$ref", "#/components/schemas/" + schema}}; }

Json Operation(const std::string& summary, Json answer, const std::vector<int>& errors,
               ErrorForm form) {
  const std::string prefix =
      fmt::format("#/components/responses/{}", form == ErrorForm::kOpenAi ? "OpenAi" : "");
  answer["description"] = summary;
  Json operation;
  operation["summary"] = summary;
  operation["responses"]["200"] = std::move(answer);
  for (const int status : errors) {
    const bool busy = status == 429 || status == 503;
    operation["responses"][std::to_string(status)] = {{"$ref", prefix + (busy ? "Busy" : "Error")}};
  }
  return operation;
}

std::vector<int> ErrorsOfModels(ErrorForm form) {
  std::vector<int> errors = {400, 403, 413, 415, 421, 429, 500, 503, 504};
  if (form == ErrorForm::kOpenAi) errors.insert(errors.end(), {401, 404});
  return errors;
}

Json WithKey(Json operation) {
  operation["security"] = Json::array({{{"key", Json::array()}}, Json::object()});
  return operation;
}

Json WithBody(Json operation, Json body) {
  operation = WithKey(std::move(operation));
  operation["requestBody"] = std::move(body);
  operation["requestBody"]["required"] = true;
  return operation;
}

}  // namespace openapi

Json OpenApiOfServer(const ServeOptions& options) {
  using openapi::Content, openapi::Operation, openapi::Reference;
  const std::string json = "application/json";
  Json document = openapi::FileOf("openapi.json");
  Json& paths = document["paths"];
  const Json any = {{"type", "object"}};
  paths["/health"]["get"] = Operation("the server runs", Content(json, any), {503});
  if (options.http.metrics_address.empty()) {
    paths["/metrics"]["get"] =
        Operation("metrics for Prometheus", Content("text/plain", {{"type", "string"}}), {});
  }
  paths["/openapi.json"]["get"] = Operation("this description", Content(json, any), {});
  paths["/v1/models"]["get"] = Operation("the models", Content(json, Reference("Models")), {});
  Json& model = paths["/v1/models/{name}"]["get"];
  model = Operation("one model", Content(json, Reference("Model")), {404}, ErrorForm::kOpenAi);
  model["parameters"] = Json::array(
      {{{"name", "name"}, {"in", "path"}, {"required", true}, {"schema", {{"type", "string"}}}}});
  return document;
}

}  // namespace attend
