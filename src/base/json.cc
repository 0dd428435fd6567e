#include "base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "attend/error.h"
#include "base/excerpt.h"

namespace attend {
namespace {

constexpr int kMaxDepth = 64;
// An ordered object is searched from its first member on, so that many members cost a square.
template <class AnyJson>
constexpr size_t kMaxMembers = std::is_same_v<AnyJson, Json> ? 4096 : SIZE_MAX;

// Checks what nlohmann's parser lets pass: depth, number of values, and keys that stand twice.
template <class AnyJson>
class StructureCheck {
 public:
  StructureCheck(const std::string& where, size_t most_values)
      : where_(where), most_values_(most_values) {}

  bool operator()(int depth, typename AnyJson::parse_event_t event, AnyJson& value) {
    if (depth >= kMaxDepth) {
      throw Error(ErrorKind::kInput,
                  fmt::format("{}: JSON is nested deeper than {}", where_, kMaxDepth));
    }
    using Event = typename AnyJson::parse_event_t;
    const bool begins =
        event == Event::value || event == Event::object_start || event == Event::array_start;
    if (begins && ++values_ > most_values_) {
      throw Error(
          ErrorKind::kInput,
          fmt::format("{}: JSON has more than {} values; send less at once", where_, most_values_));
    }
    if (event == Event::object_start) keys_.emplace_back();
    if (event == Event::object_end) keys_.pop_back();
    if (event == Event::key) {
      const std::string& key = value.template get_ref<const std::string&>();
      if (!keys_.back().insert(key).second) {
        throw Error(ErrorKind::kInput,
                    fmt::format("{}: key '{}' appears twice", where_, Excerpt(key)));
      }
      if (keys_.back().size() > kMaxMembers<AnyJson>) {
        throw Error(ErrorKind::kInput, fmt::format("{}: a JSON object has more than {} members",
                                                   where_, kMaxMembers<AnyJson>));
      }
    }
    return true;
  }

 private:
  const std::string& where_;
  const size_t most_values_;
  size_t values_ = 0;
  std::vector<std::set<std::string>> keys_;
};

void SetFromJson(const Field& field, const Json& value, const std::string& where) {
  switch (value.type()) {
    case Json::value_t::boolean:
      return field.Set(value.get<bool>(), where);
    case Json::value_t::number_integer:
      return field.Set(value.get<int64_t>(), where);
    case Json::value_t::number_unsigned:
      if (value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) break;
      return field.Set(value.get<int64_t>(), where);
    case Json::value_t::number_float: {
      const double number = value.get<double>();  // 2.0 is a whole number, as JSON Schema has it
      const bool whole = std::abs(number) < 1e15 && std::trunc(number) == number;
      if (whole && std::holds_alternative<int64_t*>(field.value))
        return field.Set(static_cast<int64_t>(number), where);
      return field.Set(number, where);
    }
    case Json::value_t::string:
      return field.Set(value.get_ref<const std::string&>(), where);
    case Json::value_t::array: {
      const auto all = [&](auto is) { return std::all_of(value.begin(), value.end(), is); };
      if (!value.empty() && all([](const Json& item) { return item.is_number(); }))
        return field.Set(value.get<std::vector<double>>(), where);
      if (all([](const Json& item) { return item.is_string(); }))
        return field.Set(value.get<std::vector<std::string>>(), where);
      break;
    }
    default:
      break;
  }
  throw Error(ErrorKind::kConfiguration, fmt::format("{}: {} is {}, expected {}", where, field.name,
                                                     Excerpt(value.dump()), field.TypeName()));
}

void FromJson(const Json& object, const std::string& prefix, const FieldList& fields,
              const std::string& where) {
  for (const auto& [key, value] : object.items()) {
    const std::string name = prefix + key;
    if (value.is_object() && (!value.empty() || fields.HasTable(name))) {
      FromJson(value, name + ".", fields, where);
    } else {
      SetFromJson(fields.Get(name, where), value, where);
    }
  }
}

Json FieldToJson(const Field& field) {
  if (auto* const* flag = std::get_if<bool*>(&field.value)) return **flag;
  if (auto* const* integer = std::get_if<int64_t*>(&field.value)) return **integer;
  if (auto* const* number = std::get_if<double*>(&field.value)) return **number;
  if (auto* const* list = std::get_if<std::vector<std::string>*>(&field.value)) return **list;
  if (auto* const* list = std::get_if<std::vector<double>*>(&field.value)) return **list;
  if (auto* const* list = std::get_if<std::vector<int64_t>*>(&field.value)) return **list;
  return field.ValueText();
}

template <class AnyJson>
AnyJson Parse(std::string_view text, const std::string& where, size_t most_values) {
  try {
    return AnyJson::parse(text.begin(), text.end(), StructureCheck<AnyJson>(where, most_values));
  } catch (const typename AnyJson::parse_error& error) {
    const std::string_view before = text.substr(0, std::max<size_t>(error.byte, 1) - 1);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const size_t column = before.size() - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
    throw Error(ErrorKind::kInput, fmt::format("{}:{}:{}: not valid JSON: {}", where, line, column,
                                               JsonFault(text, error.byte)));
  } catch (const typename AnyJson::out_of_range&) {
    throw Error(ErrorKind::kInput,
                fmt::format("{}: not valid JSON: a number is too large to be stored", where));
  }
}

template <class AnyJson>
std::string DumpAny(const AnyJson& json) {
  return json.dump(-1, ' ', false, AnyJson::error_handler_t::replace);
}

}  // namespace

Json ParseJson(std::string_view text, const std::string& where, size_t most_values) {
  return Parse<Json>(text, where, most_values);
}

SortedJson ParseSortedJson(std::string_view text, const std::string& where) {
  return Parse<SortedJson>(text, where, SIZE_MAX);
}

std::string JsonFault(std::string_view text, size_t byte) {
  constexpr size_t kShown = 24;
  const size_t place = std::min(std::max<size_t>(byte, 1) - 1, text.size());
  size_t begin = place > kShown ? place - kShown : 0;
  while (begin < place && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) ++begin;
  const std::string before = Excerpt(text.substr(begin, place - begin));
  const std::string after = before.empty() ? "" : fmt::format(" after '{}'", before);
  if (place == text.size()) return fmt::format("the text ends too early{}", after);
  const auto found = static_cast<unsigned char>(text[place]);
  if (found <= ' ' || found >= 0x7F) return fmt::format("unexpected byte 0x{:02X}{}", found, after);
  return fmt::format("unexpected '{}'{}", text[place], after);
}

void RefuseMember(const Json* found, const std::string& name, const std::string& where) {
  throw Error(ErrorKind::kInput, found == nullptr
                                     ? fmt::format("{}: member '{}' is missing", where, name)
                                     : fmt::format("{}: member '{}' is {}, which it can't be",
                                                   where, name, Excerpt(Dump(*found))));
}

std::string Dump(const Json& json) { return DumpAny(json); }
std::string DumpSorted(const SortedJson& json) { return DumpAny(json); }

Json FieldsToJson(const FieldList& fields) {
  Json object = Json::object();
  for (const Field& field : fields.fields()) {
    Json* place = &object;
    std::string_view name = field.name;
    for (size_t dot; (dot = name.find('.')) != std::string_view::npos;
         name.remove_prefix(dot + 1)) {
      place = &(*place)[std::string(name.substr(0, dot))];
    }
    (*place)[std::string(name)] = FieldToJson(field);
  }
  return object;
}

void FieldsFromJson(const Json& object, const FieldList& fields, const std::string& where) {
  if (!object.is_object()) {
    throw Error(ErrorKind::kConfiguration, fmt::format("{}: expected a JSON object", where));
  }
  FromJson(object, "", fields, where);
}

Json FloatsToJson(std::span<const float> values) {
  Json list = Json::array();
  for (const float value : values) {
    char digits[32];
    const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
    double number = 0;  // whose shortest form has these digits, too
    std::from_chars(digits, end, number);
    list.push_back(number);
  }
  return list;
}

}  // namespace attend
