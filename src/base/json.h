// JSON with errors that say where, and the bridge between FieldList and JSON.
#ifndef ATTEND_BASE_JSON_H_
#define ATTEND_BASE_JSON_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/fields.h"

namespace attend {

using Json = nlohmann::ordered_json;

// Parses one JSON value that fills `text`. Throws Error(kInput) that opens with `where` (a file
// name) for bad syntax, text that is not UTF-8, a key that stands twice in one object, nesting
// deeper than 64, or an object of more than 4096 members.
Json ParseJson(std::string_view text, const std::string& where);

// One line; what is not UTF-8 becomes U+FFFD.
std::string Dump(const Json& json);

// An object with a member for each field; `a.b` becomes {"a": {"b": ...}}.
Json FieldsToJson(const FieldList& fields);

// Sets the fields from an object made like FieldsToJson's. Every member must be a known field;
// fields that are absent keep their value. Throws Error(kConfiguration) naming the nearest known
// name.
void FieldsFromJson(const Json& object, const FieldList& fields, const std::string& where);

}  // namespace attend

#endif  // ATTEND_BASE_JSON_H_
