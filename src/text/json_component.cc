#include "text/json_component.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "attend/error.h"
#include "base/excerpt.h"

namespace attend {

JsonComponent::JsonComponent(const SortedJson& value, std::string name, const std::string& where)
    : value_(value), name_(std::move(name)), where_(where) {
  if (!value.is_object())
    Fail(fmt::format("{} is {}; expected an object", name_.empty() ? "the file" : name_,
                     Excerpt(DumpSorted(value))));
}

void JsonComponent::CheckKeys(std::initializer_list<std::string_view> known) const {
  for (const auto& [key, value] : value_.items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    Fail(fmt::format("{} is not known; expected {}", NameOf(Excerpt(key)), fmt::join(known, ", ")));
  }
}

std::string JsonComponent::NameOf(std::string_view key) const {
  return name_.empty() ? std::string(key) : fmt::format("{}.{}", name_, key);
}

const SortedJson* JsonComponent::Find(const std::string& key) const {
  const auto found = value_.find(key);
  return found == value_.end() || found->is_null() ? nullptr : &*found;
}

std::string JsonComponent::Text(const std::string& key) const {
  const SortedJson* found = Find(key);
  if (found == nullptr || !found->is_string()) Refuse(key, "a text");
  return found->get<std::string>();
}

std::string JsonComponent::Text(const std::string& key, const std::string& otherwise) const {
  return Find(key) == nullptr ? otherwise : Text(key);
}

bool JsonComponent::Flag(const std::string& key) const {
  const SortedJson* found = Find(key);
  if (found == nullptr || !found->is_boolean()) Refuse(key, "true or false");
  return found->get<bool>();
}

bool JsonComponent::Flag(const std::string& key, bool otherwise) const {
  return Find(key) == nullptr ? otherwise : Flag(key);
}

uint64_t JsonComponent::Number(const std::string& key) const {
  const SortedJson* found = Find(key);
  if (found == nullptr || !found->is_number_unsigned()) Refuse(key, "a whole number from 0");
  return found->get<uint64_t>();
}

const SortedJson& JsonComponent::List(const std::string& key) const {
  const SortedJson* found = Find(key);
  if (found == nullptr || !found->is_array()) Refuse(key, "a list");
  return *found;
}

JsonComponent JsonComponent::Object(const std::string& key) const {
  const SortedJson* found = Find(key);
  if (found == nullptr) Refuse(key, "an object");
  return {*found, NameOf(key), where_};
}

void JsonComponent::Refuse(std::string_view key, std::string_view expected) const {
  const auto found = value_.find(std::string(key));
  Fail(fmt::format("{} is {}; expected {}", NameOf(key),
                   found == value_.end() ? "missing" : Excerpt(DumpSorted(*found)), expected));
}

void JsonComponent::Fail(const std::string& message) const {
  throw Error(ErrorKind::kInput, fmt::format("{}: {}", where_, message));
}

}  // namespace attend
