#include "text/entity_labels.h"

namespace attend {
namespace {

// An entity that holds the word before ends there.
bool EntityEnds(const LabelParts& before, const LabelParts& label) {
  if (before.outside()) return false;
  if (before.prefix == 'E' || before.prefix == 'S') return true;
  return label.outside() || label.prefix == 'B' || label.prefix == 'S' || before.type != label.type;
}

bool Continues(const LabelParts& before, const LabelParts& label) {
  return !before.outside() && !label.outside() && before.type == label.type;
}

bool MayFollowIob1(const LabelParts& before, const LabelParts& label) {
  if (label.prefix == 'E' || label.prefix == 'S') return false;
  return label.prefix != 'B' || Continues(before, label);
}

bool MayFollowIob2(const LabelParts& before, const LabelParts& label) {
  if (label.prefix == 'E' || label.prefix == 'S') return false;
  return label.prefix != 'I' || Continues(before, label);
}

bool MayFollowIobes(const LabelParts& before, const LabelParts& label) {
  const bool open = before.prefix == 'B' || before.prefix == 'I';
  if (open) return (label.prefix == 'I' || label.prefix == 'E') && before.type == label.type;
  return label.prefix != 'I' && label.prefix != 'E';
}

// Of the word at `word` in an entity that follows another one of its type at once, or does not.
char PrefixOf(const Entity& entity, int64_t word, bool follows, LabelScheme scheme) {
  const bool first = word == entity.begin, last = word + 1 == entity.end;
  switch (scheme) {
    case LabelScheme::kIob1:
      return first && follows ? 'B' : 'I';
    case LabelScheme::kIob2:
    case LabelScheme::kIob:
      return first ? 'B' : 'I';
    default:
      if (first) return last ? 'S' : 'B';
      return last ? 'E' : 'I';
  }
}

}  // namespace

std::string_view NameOf(LabelScheme scheme) {
  switch (scheme) {
    case LabelScheme::kIob1:
      return "iob1";
    case LabelScheme::kIob2:
      return "iob2";
    case LabelScheme::kIobes:
      return "iobes";
    default:
      return "none";
  }
}

bool IsEntityLabel(std::string_view label) {
  if (label == "O") return true;
  constexpr std::string_view kPrefixes = "BIES";
  return label.size() > 2 && label[1] == '-' && kPrefixes.find(label[0]) != kPrefixes.npos;
}

std::vector<Entity> EntitiesOf(std::span<const std::string> labels) {
  std::vector<Entity> entities;
  LabelParts before("O");
  for (int64_t word = 0; word < std::ssize(labels); ++word) {
    const LabelParts label(labels[word]);
    const bool ends = EntityEnds(before, label);
    if (ends) entities.back().end = word;
    if (!label.outside() && (before.outside() || ends))
      entities.push_back({std::string(label.type), word, word});
    before = label;
  }
  if (!before.outside()) entities.back().end = std::ssize(labels);
  return entities;
}

std::vector<std::string> LabelsOf(std::span<const Entity> entities, int64_t words,
                                  LabelScheme scheme) {
  std::vector<std::string> labels(words, "O");
  const Entity* before = nullptr;
  for (const Entity& entity : entities) {
    const bool follows =
        before != nullptr && before->end == entity.begin && before->type == entity.type;
    for (int64_t word = entity.begin; word < entity.end; ++word) {
      labels[word] = PrefixOf(entity, word, follows, scheme);
      labels[word] += "-" + entity.type;
    }
    before = &entity;
  }
  return labels;
}

bool MayFollow(std::string_view before, std::string_view label, LabelScheme scheme) {
  const LabelParts first(before), second(label);
  switch (scheme) {
    case LabelScheme::kIob1:
      return MayFollowIob1(first, second);
    case LabelScheme::kIob2:
      return MayFollowIob2(first, second);
    case LabelScheme::kIob:
      return second.prefix != 'E' && second.prefix != 'S';
    default:
      return MayFollowIobes(first, second);
  }
}

void SchemeFinder::Add(std::span<const std::string> labels) {
  for (size_t scheme = 0; scheme < std::size(fits_); ++scheme) {
    const auto kind = static_cast<LabelScheme>(scheme);
    std::string_view before = "";
    for (const std::string& label : labels) {
      fits_[scheme] &= IsEntityLabel(label) && MayFollow(before, label, kind);
      before = label;
    }
    fits_[scheme] &= MayFollow(before, "", kind);
  }
}

std::optional<LabelScheme> SchemeFinder::Scheme() const {
  for (const LabelScheme scheme : {LabelScheme::kIobes, LabelScheme::kIob2, LabelScheme::kIob1}) {
    if (fits_[static_cast<size_t>(scheme)]) return scheme;
  }
  return std::nullopt;
}

}  // namespace attend
