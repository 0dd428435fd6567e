// The OpenAPI description of all routes: what the server has itself, and what handlers make theirs
// of.
#ifndef ATTEND_SERVE_OPENAPI_H_
#define ATTEND_SERVE_OPENAPI_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "serve/model_store.h"
#include "serve/serve_options.h"

namespace attend {

// Parts of a description.
namespace openapi {

// A file of those that the build put into the program.
Json FileOf(std::string_view name);
// Of an option.
Json SchemaOf(const Field& field);
Json TextOrTexts();
// A text, or a list of at least one.
Json TextOrMoreTexts(const std::string& description);
// Of a request at the route: its fields, with the values that stand now as defaults, and `inputs`
// before them.
Json RequestSchema(Json inputs, const FieldList& fields, const ModelStore& models,
                   const std::string& route);
Json Reference(const std::string& schema);
Json Content(const std::string& type, Json schema);
// One operation; refused with each of `errors`, in this form.
Json Operation(const std::string& summary, Json answer, const std::vector<int>& errors,
               ErrorForm form = ErrorForm::kPlain);
// Statuses of errors at a route of models that takes JSON.
std::vector<int> ErrorsOfModels(ErrorForm form);
// The operation, for whoever has a key where one is needed; with a body.
Json WithKey(Json operation);
Json WithBody(Json operation, Json body);

}  // namespace openapi

// Of the server's own routes.
Json OpenApiOfServer(const ServeOptions& options);

}  // namespace attend

#endif  // ATTEND_SERVE_OPENAPI_H_
