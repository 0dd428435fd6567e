#include "base/fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "attend/error.h"
#include "base/edit_distance.h"
#include "base/excerpt.h"

namespace attend {
namespace {

[[noreturn]] void Refuse(const Field& field, const std::string& found, const std::string& where) {
  const std::string range = field.RangeText();
  throw Error(ErrorKind::kConfiguration,
              fmt::format("{}: {} is {}, expected {}{}", where, field.name, Excerpt(found),
                          field.TypeName(), range.empty() ? "" : ", " + range));
}

template <class Number>
bool ParseNumber(std::string_view text, Number* number) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return status == std::errc() && end == text.data() + text.size();
}

}  // namespace

void Field::Parse(std::string_view text, const std::string& where) const {
  const std::string quoted = fmt::format("'{}'", text);
  if (auto* const* target = std::get_if<std::string*>(&value)) {
    **target = text;
  } else if (std::holds_alternative<bool*>(value)) {
    if (text != "true" && text != "false") Refuse(*this, quoted, where);
    Set(text == "true", where);
  } else if (std::holds_alternative<int64_t*>(value)) {
    int64_t number = 0;
    if (!ParseNumber(text, &number)) Refuse(*this, quoted, where);
    Set(number, where);
  } else if (std::holds_alternative<double*>(value)) {
    double number = 0;
    if (!ParseNumber(text, &number)) Refuse(*this, quoted, where);
    Set(number, where);
  } else if (IsList()) {
    Set(std::vector<std::string>{std::string(text)}, where);
  } else {
    const EnumField& choice = std::get<EnumField>(value);
    const auto found = std::find(choice.names.begin(), choice.names.end(), text);
    if (found == choice.names.end()) Refuse(*this, quoted, where);
    choice.set(found - choice.names.begin());
  }
}

void Field::Set(const std::string& new_value, const std::string& where) const {
  if (!IsText() && !IsList() && !std::holds_alternative<EnumField>(value)) {
    Refuse(*this, fmt::format("\"{}\"", new_value), where);
  }
  Parse(new_value, where);
}

void Field::Set(bool new_value, const std::string& where) const {
  auto* const* target = std::get_if<bool*>(&value);
  if (target == nullptr) Refuse(*this, new_value ? "true" : "false", where);
  **target = new_value;
}

void Field::Set(int64_t new_value, const std::string& where) const {
  if (std::holds_alternative<double*>(value) || IsNumbers())
    return Set(static_cast<double>(new_value), where);
  auto* const* target = std::get_if<int64_t*>(&value);
  const double number = static_cast<double>(new_value);
  if (target == nullptr || number < min || number > max) {
    Refuse(*this, std::to_string(new_value), where);
  }
  **target = new_value;
}

void Field::Set(double new_value, const std::string& where) const {
  if (IsNumbers()) return Set(std::vector<double>{new_value}, where);
  auto* const* target = std::get_if<double*>(&value);
  if (target == nullptr || !(new_value >= min && new_value <= max)) {
    Refuse(*this, fmt::format("{:#}", new_value), where);  // 4.0, which 4 would not explain
  }
  **target = new_value;
}

void Field::Set(const std::vector<std::string>& new_value, const std::string& where) const {
  if (!IsList()) Refuse(*this, "a list", where);
  if (auto* const* target = std::get_if<std::vector<std::string>*>(&value)) {
    **target = new_value;
    return;
  }
  std::vector<double> numbers;
  for (const std::string& text : new_value) {
    if (!ParseNumber(text, &numbers.emplace_back()))
      Refuse(*this, fmt::format("a list with '{}'", text), where);
  }
  Set(numbers, where);
}

void Field::Set(const std::vector<double>& new_value, const std::string& where) const {
  if (!IsList()) Refuse(*this, "a list", where);
  for (const double number : new_value) {
    if (!IsNumbers() || !(number >= min && number <= max) ||
        (IsIntegers() && number != std::floor(number)))
      Refuse(*this, fmt::format("a list with {}", number), where);
  }
  if (IsIntegers())
    std::get<std::vector<int64_t>*>(value)->assign(new_value.begin(), new_value.end());
  else if (IsNumbers())
    *std::get<std::vector<double>*>(value) = new_value;
}

std::string Field::TypeName() const {
  if (std::holds_alternative<bool*>(value)) return "true or false";
  if (std::holds_alternative<int64_t*>(value)) return "an integer";
  if (std::holds_alternative<double*>(value)) return "a number";
  if (std::holds_alternative<std::string*>(value)) return "text";
  if (IsIntegers()) return "a list of integers";
  if (IsList()) return IsNumbers() ? "a list of numbers" : "a list of texts";
  return fmt::format("one of {}", fmt::join(std::get<EnumField>(value).names, ", "));
}

std::string Field::RangeText() const {
  if (std::isfinite(min) && std::isfinite(max)) return fmt::format("{} to {}", min, max);
  if (std::isfinite(min)) return fmt::format("at least {}", min);
  if (std::isfinite(max)) return fmt::format("at most {}", max);
  return "";
}

std::string Field::ValueText() const {
  if (auto* const* flag = std::get_if<bool*>(&value)) return **flag ? "true" : "false";
  if (auto* const* integer = std::get_if<int64_t*>(&value)) return std::to_string(**integer);
  if (auto* const* number = std::get_if<double*>(&value)) return fmt::format("{}", **number);
  if (auto* const* text = std::get_if<std::string*>(&value)) return **text;
  if (auto* const* list = std::get_if<std::vector<std::string>*>(&value)) {
    return fmt::format("{}", fmt::join(**list, ","));
  }
  if (auto* const* list = std::get_if<std::vector<int64_t>*>(&value)) {
    return fmt::format("{}", fmt::join(**list, ","));
  }
  if (IsNumbers()) return fmt::format("{}", fmt::join(*std::get<std::vector<double>*>(value), ","));
  const EnumField& choice = std::get<EnumField>(value);
  return choice.names.at(choice.get());
}

FieldList& FieldList::Add(std::string name, bool* value, std::string help, Traits traits) {
  return Push({.name = std::move(name), .help = std::move(help), .value = value, .traits = traits});
}

FieldList& FieldList::Add(std::string name, std::string* value, std::string help, Traits traits) {
  return Push({.name = std::move(name), .help = std::move(help), .value = value, .traits = traits});
}

FieldList& FieldList::Add(std::string name, std::vector<std::string>* value, std::string help,
                          Traits traits) {
  return Push({.name = std::move(name), .help = std::move(help), .value = value, .traits = traits});
}

FieldList& FieldList::Add(std::string name, int64_t* value, double min, double max,
                          std::string help, Traits traits) {
  return Push({std::move(name), std::move(help), value, min, max, traits});
}

FieldList& FieldList::Add(std::string name, double* value, double min, double max, std::string help,
                          Traits traits) {
  return Push({std::move(name), std::move(help), value, min, max, traits});
}

FieldList& FieldList::Add(std::string name, std::vector<double>* value, double min, double max,
                          std::string help, Traits traits) {
  return Push({std::move(name), std::move(help), value, min, max, traits});
}

FieldList& FieldList::Add(std::string name, std::vector<int64_t>* value, double min, double max,
                          std::string help, Traits traits) {
  return Push({std::move(name), std::move(help), value, min, max, traits});
}

FieldList& FieldList::Add(std::string name, std::string* value, std::vector<std::string> names,
                          std::string help, Traits traits) {
  EnumField field{
      names,
      [value, names] {
        return static_cast<size_t>(std::ranges::find(names, *value) - names.begin());
      },
      [value, names = std::move(names)](size_t position) { *value = names.at(position); }};
  return Push({.name = std::move(name),
               .help = std::move(help),
               .value = std::move(field),
               .traits = traits});
}

FieldList& FieldList::Mark(Traits of, Traits more) {
  for (Field& field : fields_) {
    if (field.Is(of)) field.traits |= more;
  }
  return *this;
}

FieldList& FieldList::Nest(const std::string& prefix, FieldList inner, Traits traits) {
  for (Field& field : inner.fields_) {
    if (!prefix.empty()) field.name = prefix + "." + field.name;
    field.traits |= traits;
    Push(std::move(field));
  }
  for (auto& [name, cure] : inner.replaced_)
    Replaced(prefix.empty() ? name : prefix + "." + name, std::move(cure));
  return *this;
}

FieldList& FieldList::Replaced(std::string name, std::string cure) {
  replaced_.emplace_back(std::move(name), std::move(cure));
  return *this;
}

FieldList& FieldList::Group(std::string heading) {
  group_ = std::move(heading);
  return *this;
}

FieldList& FieldList::Push(Field field) {
  if (field.group.empty()) field.group = group_;
  fields_.push_back(std::move(field));
  return *this;
}

FieldList FieldList::Select(const std::vector<std::string>& names) const {
  FieldList selected;
  for (const std::string& name : names) selected.fields_.push_back(Get(name, "field list"));
  return selected;
}

FieldList FieldList::Without(Traits traits) const {
  FieldList others = *this;
  std::erase_if(others.fields_, [&](const Field& field) { return field.Is(traits); });
  return others;
}

const Field* FieldList::Find(std::string_view name) const {
  for (const Field& field : fields_) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

bool FieldList::HasTable(std::string_view table) const {
  for (const Field& field : fields_) {
    if (field.name.size() > table.size() && field.name.starts_with(table) &&
        field.name[table.size()] == '.') {
      return true;
    }
  }
  return false;
}

const Field& FieldList::Get(std::string_view name, const std::string& where) const {
  if (const Field* field = Find(name)) return *field;
  const std::string cure = CureOf(name);
  throw Error(ErrorKind::kConfiguration,
              fmt::format("{}: unknown option '{}'{}", where, Excerpt(name),
                          cure.empty() ? DidYouMean(name, Names()) : cure));
}

std::string FieldList::CureOf(std::string_view name) const {
  for (const auto& [old, cure] : replaced_)
    if (old == name) return "; " + cure;
  return "";
}

std::vector<std::string> FieldList::Names() const {
  std::vector<std::string> names;
  for (const Field& field : fields_) names.push_back(field.name);
  return names;
}

}  // namespace attend
