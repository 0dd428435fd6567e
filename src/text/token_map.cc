#include "text/token_map.h"

#include <utility>

#include "text/proto_fields.h"

namespace attend {
namespace {

// SentencePiece's ModelProto leaves fields from 200 on to others.
constexpr uint64_t kMapField = 4200;
// Of the field: a text for each id; the special ids, each plus 1 so that -1 can be written; those
// of the texts that stand in a line as they are; further tokens that stand for no text.
constexpr uint64_t kToken = 1, kPad = 2, kUnk = 3, kBos = 4, kEos = 5, kAdded = 6, kWithoutText = 7;

}  // namespace

std::optional<TokenMap> TokenMap::Read(std::string_view file,
                                       const std::vector<std::string>& pieces,
                                       const std::string& where) {
  std::optional<std::string_view> field;
  ForEachField(file, kMapField, where, [&](std::string_view content) { field = content; });
  if (!field) return std::nullopt;
  TokenMap map;
  ForEachField(*field, kToken, where, [&](std::string_view token) {
    const auto id = static_cast<int32_t>(map.tokens_.size());
    map.tokens_.emplace_back(token);
    if (!map.ids_.emplace(token, id).second)
      DamagedModel(where, "a token stands twice in its list");
  });
  const auto special = [&](uint64_t number, bool must) {
    const uint64_t id = NumberField(*field, number, where).value_or(0);
    if (id > map.tokens_.size() || (must && id == 0))
      DamagedModel(where, "a special token is not in the list of tokens");
    return static_cast<int64_t>(id) - 1;
  };
  map.special_ids_ = {special(kPad, false), special(kUnk, true), special(kBos, false),
                      special(kEos, true)};
  map.controls_.resize(map.tokens_.size());
  for (const int64_t id : {map.special_ids_.pad, map.special_ids_.bos, map.special_ids_.eos})
    if (id >= 0) map.controls_[id] = true;
  ForEachField(*field, kWithoutText, where, [&](std::string_view token) {
    const auto found = map.ids_.find(std::string(token));
    if (found == map.ids_.end())
      DamagedModel(where, "a token that stands for no text is not in the list of tokens");
    map.controls_[found->second] = true;
  });
  std::vector<AddedToken> added;
  ForEachField(*field, kAdded, where, [&](std::string_view token) {
    const auto found = map.ids_.find(std::string(token));
    if (found == map.ids_.end() || token.empty())
      DamagedModel(where, "an added token is not in the list of tokens");
    added.push_back({.id = found->second, .content = found->first});
  });
  map.added_ = AddedTokenFinder(std::move(added));
  for (const std::string& piece : pieces) map.of_pieces_.push_back(map.Id(piece));
  return map;
}

std::string TokenMap::Extend(std::string_view file, std::span<const std::string> tokens,
                             const std::string& where) {
  std::string extended;
  while (!file.empty()) {
    const char* begin = file.data();
    const ProtoPart field = TakeField(&file, where);
    if (field.number != kMapField) {
      extended.append(begin, file.data());
      continue;
    }
    std::string map(field.content);
    for (const std::string& token : tokens) map += ProtoField(kToken, token);
    extended += ProtoField(kMapField, map);
  }
  return extended;
}

int32_t TokenMap::Id(std::string_view token) const {
  const auto found = ids_.find(std::string(token));
  return found == ids_.end() ? static_cast<int32_t>(special_ids_.unk) : found->second;
}

int32_t TokenMap::LanguageOf(std::string_view line) const {
  if (!line.starts_with(">>")) return -1;
  const size_t end = line.find("<<");
  if (end == std::string_view::npos) return -1;
  const auto found = ids_.find(std::string(line.substr(0, end + 2)));
  return found == ids_.end() ? -1 : found->second;
}

}  // namespace attend
