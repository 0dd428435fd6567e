#include "text/unknown_characters.h"

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <utility>

#include "text/utf8.h"

namespace attend {
namespace {

constexpr size_t kNamed = 5;
constexpr size_t kCodePoints = 0x110000;
constexpr uint8_t kNotAsked = 0, kKnown = 1, kPerhapsUnknown = 2;

// Calls visit(character) for each that is no white space; the text is UTF-8.
template <typename Visit>
void ForEachCharacter(std::string_view text, const Visit& visit) {
  const auto length = static_cast<int32_t>(text.size());
  for (int32_t at = 0; at < length;) {
    UChar32 character = 0;
    U8_NEXT_OR_FFFD(text.data(), at, length, character);
    if (!u_isUWhiteSpace(character)) visit(static_cast<char32_t>(character));
  }
}

// "U+4E2D 中"; the number alone where there is nothing to see.
std::string Name(char32_t character) {
  const auto code = static_cast<uint32_t>(character);
  std::string name = fmt::format("U+{:04X}", code);
  const bool shows = u_isgraph(static_cast<UChar32>(character)) &&
                     u_charType(static_cast<UChar32>(character)) != U_FORMAT_CHAR;
  if (shows) AppendUtf8(character, &(name += ' '));
  return name;
}

}  // namespace

std::u32string UnknownCharactersOf(const Vocabulary& vocabulary, std::string_view line) {
  std::u32string unknown;
  for (const std::string& text : vocabulary.UnknownTexts(line))
    ForEachCharacter(text, [&](char32_t character) { unknown += character; });
  return unknown;
}

double UnknownCharacters::Share() const {
  return characters == 0
             ? 0
             : std::min(1.0, static_cast<double>(unknown) / static_cast<double>(characters));
}

void UnknownCharacters::Add(const UnknownCharacters& next) {
  characters += next.characters;
  unknown += next.unknown;
  for (const auto& [character, count] : next.counts) counts[character] += count;
}

std::vector<std::pair<char32_t, int64_t>> UnknownCharacters::MostFrequent(size_t most) const {
  std::vector<std::pair<char32_t, int64_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  sorted.resize(std::min(most, sorted.size()));
  return sorted;
}

std::string UnknownCharacters::MostFrequentText() const {
  std::string text;
  for (const auto& [character, count] : MostFrequent(kNamed))
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", Name(character), count);
  return text;
}

std::string UnknownCharacters::Text() const {
  std::string text =
      fmt::format("{} of {} characters ({:.3g} %)", unknown, characters, 100 * Share());
  return counts.empty() ? text : text + ", most often " + MostFrequentText();
}

Json ToJson(const UnknownCharacters& unknown) {
  Json most = Json::object();
  for (const auto& [character, count] : unknown.MostFrequent(kNamed)) most[Name(character)] = count;
  return {{"characters", unknown.characters},
          {"unknown", unknown.unknown},
          {"most_frequent", std::move(most)}};
}

UnknownCounter::UnknownCounter(std::shared_ptr<const Vocabulary> vocabulary)
    : vocabulary_(std::move(vocabulary)), known_(kCodePoints, kNotAsked) {}

// Alone: a character may yet be known as a part of what becomes one piece, such as an accent.
bool UnknownCounter::IsKnown(char32_t character) {
  uint8_t& known = known_[character];
  if (known == kNotAsked) {
    std::string text;
    AppendUtf8(character, &text);
    known = vocabulary_->UnknownTexts(text).empty() ? kKnown : kPerhapsUnknown;
  }
  return known == kKnown;
}

bool UnknownCounter::Add(std::string_view line) {
  bool all_known = true;
  ForEachCharacter(line, [&](char32_t character) {
    ++found_.characters;
    all_known = IsKnown(character) && all_known;
  });
  if (all_known) return false;
  const std::u32string unknown = UnknownCharactersOf(*vocabulary_, line);
  found_.unknown += std::ssize(unknown);
  for (const char32_t character : unknown) ++found_.counts[character];
  return !unknown.empty();
}

}  // namespace attend
