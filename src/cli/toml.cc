// Reads TOML into fields. toml++ gives types and places; CLI11's own reader has neither.
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_UNRELEASED_FEATURES 0
#include <fmt/format.h>
#include <toml++/toml.h>

#include "attend/error.h"
#include "base/excerpt.h"
#include "cli/command_line.h"

namespace attend {
namespace {

void SetList(const Field& field, const toml::array& array, const std::string& where) {
  std::vector<std::string> texts;
  std::vector<double> numbers;
  for (const toml::node& item : array) {
    if (const auto* text = item.as_string()) texts.push_back(text->get());
    if (const auto* integer = item.as_integer())
      numbers.push_back(static_cast<double>(integer->get()));
    if (const auto* number = item.as_floating_point()) numbers.push_back(number->get());
  }
  if (numbers.size() == array.size() && !numbers.empty()) return field.Set(numbers, where);
  if (texts.size() == array.size() || !field.IsList()) return field.Set(texts, where);
  throw Error(ErrorKind::kConfiguration, fmt::format("{}: {} is a list of something else, expected "
                                                     "{}",
                                                     where, field.name, field.TypeName()));
}

void SetFromToml(const Field& field, const toml::node& node, const std::string& where) {
  if (const auto* flag = node.as_boolean()) return field.Set(flag->get(), where);
  if (const auto* integer = node.as_integer()) return field.Set(integer->get(), where);
  if (const auto* number = node.as_floating_point()) return field.Set(number->get(), where);
  if (const auto* text = node.as_string()) return field.Set(text->get(), where);
  if (const auto* array = node.as_array()) return SetList(field, *array, where);
  throw Error(ErrorKind::kConfiguration,
              fmt::format("{}: {} is a {}, expected {}", where, field.name,
                          node.is_table() ? "table" : "date or time", field.TypeName()));
}

struct TomlReader {
  const FieldList& fields;
  const std::string& file;
  bool pass_over_others;
  std::set<std::string> names;  // that were set

  void ReadTable(const toml::table& table, const std::string& prefix);
};

void TomlReader::ReadTable(const toml::table& table, const std::string& prefix) {
  const auto where_of = [&](const toml::key& key) {
    return fmt::format("{}:{}", file, key.source().begin.line);
  };
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str()), where = where_of(key);
    const toml::table* inner = node.as_table();
    if (inner != nullptr && fields.HasTable(name)) {
      ReadTable(*inner, name + ".");
      continue;
    }
    if (pass_over_others && fields.Find(name) == nullptr) continue;
    if (inner != nullptr && !inner->empty()) {  // which no field is in, however deep it goes
      const toml::key& first = inner->begin()->first;
      fields.Get(name + "." + std::string(first.str()), where_of(first));
    }
    SetFromToml(fields.Get(name, where), node, where);
    names.insert(name);
  }
}

}  // namespace

std::set<std::string> FieldsFromToml(std::string_view text, const FieldList& fields,
                                     const std::string& where, bool pass_over_others) {
  toml::table table;
  try {
    table = toml::parse(text, where);
  } catch (const toml::parse_error& error) {
    const toml::source_position& place = error.source().begin;
    throw Error(ErrorKind::kConfiguration,
                fmt::format("{}:{}:{}: not valid TOML: {}", where, place.line, place.column,
                            Excerpt(error.description(), 240)));
  }
  TomlReader reader{fields, where, pass_over_others, {}};
  reader.ReadTable(table, "");
  return reader.names;
}

}  // namespace attend
