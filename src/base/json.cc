#include "base/json.h"

#include <fmt/format.h>

#include <set>

#include "attend/error.h"
#include "base/excerpt.h"

namespace attend {
namespace {

constexpr int kMaxDepth = 64;
// An ordered object is searched from its first member on, so that many members cost a square.
constexpr size_t kMaxMembers = 4096;

// Checks what nlohmann's parser lets pass: depth, and keys that stand twice.
class StructureCheck {
 public:
  explicit StructureCheck(const std::string& where) : where_(where) {}

  bool operator()(int depth, Json::parse_event_t event, Json& value) {
    if (depth >= kMaxDepth) {
      throw Error(ErrorKind::kInput,
                  fmt::format("{}: JSON is nested deeper than {}", where_, kMaxDepth));
    }
    if (event == Json::parse_event_t::object_start) keys_.emplace_back();
    if (event == Json::parse_event_t::object_end) keys_.pop_back();
    if (event == Json::parse_event_t::key) {
      const std::string& key = value.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second) {
        throw Error(ErrorKind::kInput,
                    fmt::format("{}: key '{}' stands twice", where_, Excerpt(key)));
      }
      if (keys_.back().size() > kMaxMembers) {
        throw Error(ErrorKind::kInput,
                    fmt::format("{}: a JSON object has more than {} members", where_, kMaxMembers));
      }
    }
    return true;
  }

 private:
  const std::string& where_;
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
    case Json::value_t::number_float:
      return field.Set(value.get<double>(), where);
    case Json::value_t::string:
      return field.Set(value.get_ref<const std::string&>(), where);
    case Json::value_t::array: {
      std::vector<std::string> texts;
      if (!field.IsList()) return field.Set(texts, where);  // the field refuses any list
      for (const Json& item : value) {
        if (!item.is_string()) {
          throw Error(ErrorKind::kConfiguration,
                      fmt::format("{}: {} holds {}, expected texts", where, field.name,
                                  Excerpt(item.dump())));
        }
        texts.push_back(item.get<std::string>());
      }
      return field.Set(texts, where);
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
  return field.ValueText();
}

}  // namespace

Json ParseJson(std::string_view text, const std::string& where) {
  try {
    return Json::parse(text.begin(), text.end(), StructureCheck(where));
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::kInput,
                fmt::format("{}: not valid JSON: {}", where, Excerpt(error.what(), 240)));
  }
}

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

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

}  // namespace attend
