// JSON with errors that say where, and the bridge between FieldList and JSON.
#ifndef ATTEND_BASE_JSON_H_
#define ATTEND_BASE_JSON_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/fields.h"

namespace attend {

using Json = nlohmann::ordered_json;
// Members are sorted by name, so that an object may have any number of them.
using SortedJson = nlohmann::json;

// Parses one JSON value that fills `text`. Throws Error(kInput) that opens with `where` (a file
// name) for bad syntax (with line and column, in bytes), text that is not UTF-8, a key that stands
// twice in one object, nesting deeper than 64, an object of more than 4096 members, or more values
// in all than `most_values`.
Json ParseJson(std::string_view text, const std::string& where, size_t most_values = SIZE_MAX);
// The same, except that an object may have any number of members.
SortedJson ParseSortedJson(std::string_view text, const std::string& where);

// What is wrong with `text`, which stops being JSON at this byte, counted from 1 as nlohmann's
// parser does: "unexpected '}' after '[1,'".
std::string JsonFault(std::string_view text, size_t byte);

// Throws Error(kInput) that opens with `where` and names the member, which can't be what was found;
// null: nothing was.
[[noreturn]] void RefuseMember(const Json* found, const std::string& name,
                               const std::string& where);

// A member of an object. Throws Error(kInput) that opens with `where` and names the member, where
// it is missing or not of this type.
template <class T>
T MemberOf(const Json& object, const std::string& name, const std::string& where) {
  const auto found = object.find(name);  // the end where `object` is none
  if (found == object.end()) RefuseMember(nullptr, name, where);
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (std::is_signed_v<T> ? !found->is_number_integer() : !found->is_number_unsigned())
      RefuseMember(&*found, name, where);
  }
  try {
    return found->get<T>();
  } catch (const Json::exception&) {
    RefuseMember(&*found, name, where);
  }
}

// One line; what is not UTF-8 becomes U+FFFD.
std::string Dump(const Json& json);
std::string DumpSorted(const SortedJson& json);

// An object with a member for each field; `a.b` becomes {"a": {"b": ...}}.
Json FieldsToJson(const FieldList& fields);

// Sets the fields from an object made like FieldsToJson's. Every member must be a known field;
// fields that are absent keep their value. Throws Error(kConfiguration) naming the nearest known
// name.
void FieldsFromJson(const Json& object, const FieldList& fields, const std::string& where);

// Numbers with the fewest digits that read back as the same f32.
Json FloatsToJson(std::span<const float> values);

}  // namespace attend

#endif  // ATTEND_BASE_JSON_H_
