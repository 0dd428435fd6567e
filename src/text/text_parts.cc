#include "text/text_parts.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>

#include "text/sentence_splitter.h"

namespace attend {
namespace {

bool IsWide(UChar32 character) {
  const int32_t width = u_getIntPropertyValue(character, UCHAR_EAST_ASIAN_WIDTH);
  return width == U_EA_WIDE || width == U_EA_FULLWIDTH;
}

// Of a script that parts its words by spaces.
bool HasSpaces(UChar32 character) {
  return !u_isUWhiteSpace(character) && !IsWide(character) &&
         u_getIntPropertyValue(character, UCHAR_LINE_BREAK) != U_LB_COMPLEX_CONTEXT;
}

}  // namespace

void AddTrimmed(std::string_view text, size_t begin, size_t end, std::vector<TextPart>* parts) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  const auto limit = static_cast<int32_t>(end);
  auto first = static_cast<int32_t>(begin);
  for (int32_t next = first; next < limit; first = next) {
    UChar32 character;
    U8_NEXT(bytes, next, limit, character);
    if (character < 0 || !u_isUWhiteSpace(character)) break;
  }
  int32_t last = limit;
  for (int32_t before = last; before > first; last = before) {
    UChar32 character;
    U8_PREV(bytes, first, before, character);
    if (character < 0 || !u_isUWhiteSpace(character)) break;
  }
  if (first < last) parts->push_back({static_cast<size_t>(first), static_cast<size_t>(last)});
}

std::vector<TextPart> JoinAcross(const std::vector<TextPart>& parts,
                                 const std::vector<TextPart>& spans) {
  std::vector<TextPart> joined;
  auto span = spans.begin();
  for (const TextPart& part : parts) {
    while (span != spans.end() && span->end <= part.begin) ++span;
    if (!joined.empty() && span != spans.end() && span->begin < joined.back().end) {
      joined.back().end = part.end;
    } else {
      joined.push_back(part);
    }
  }
  return joined;
}

std::vector<TextPart> SentenceParts(std::string_view text, const std::string& language) {
  std::vector<TextPart> parts;
  for (const std::string_view sentence : SplitSentences(text, language)) {
    const auto begin = static_cast<size_t>(sentence.data() - text.data());
    AddTrimmed(text, begin, begin + sentence.size(), &parts);
  }
  return parts;
}

std::vector<TextPart> SentenceGroups(std::string_view text, const std::string& language,
                                     const std::function<bool(std::string_view part)>& fits,
                                     const std::vector<TextPart>& spans) {
  return GroupParts(text, JoinAcross(SentenceParts(text, language), spans), fits);
}

std::vector<TextPart> GroupParts(std::string_view text, const std::vector<TextPart>& parts,
                                 const std::function<bool(std::string_view part)>& fits) {
  std::vector<TextPart> groups;
  for (size_t first = 0; first < parts.size();) {
    const size_t begin = parts[first].begin;
    // So many parts are a group, so many too many: doubled, then halved.
    size_t count = 1, too_many = parts.size() - first + 1;
    for (bool doubling = true; count + 1 < too_many;) {
      const size_t next = doubling ? std::min(2 * count, too_many - 1) : (count + too_many) / 2;
      if (fits(text.substr(begin, parts[first + next - 1].end - begin))) {
        count = next;
      } else {
        too_many = next;
        doubling = false;
      }
    }
    groups.push_back({begin, parts[first + count - 1].end});
    first += count;
  }
  return groups;
}

std::vector<TextPart> LineParts(std::string_view text) {
  std::vector<TextPart> parts;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find_first_of("\r\n", begin), text.size());
    AddTrimmed(text, begin, end, &parts);
    begin = end + 1;
  }
  return parts;
}

std::string_view Joint(std::string_view before, std::string_view between, std::string_view after) {
  if (!between.empty() || before.empty() || after.empty()) return between;
  UChar32 last, first;
  auto end = static_cast<int32_t>(before.size()), begin = 0;
  U8_PREV(reinterpret_cast<const uint8_t*>(before.data()), 0, end, last);
  U8_NEXT(reinterpret_cast<const uint8_t*>(after.data()), begin, static_cast<int32_t>(after.size()),
          first);
  const bool spaced = last >= 0 && first >= 0 && (u_isUWhiteSpace(last) || u_isUWhiteSpace(first));
  return spaced || IsWide(last) || IsWide(first) ? "" : " ";
}

bool IsInWord(std::string_view text, size_t place) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  UChar32 before, behind;
  auto end = static_cast<int32_t>(place), begin = end;
  U8_PREV(bytes, 0, end, before);
  U8_NEXT(bytes, begin, static_cast<int32_t>(text.size()), behind);
  return HasSpaces(before) && HasSpaces(behind);
}

std::string WithSingleSpaces(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c != ' ' || (!result.empty() && result.back() != ' ')) result += c;
  }
  if (result.ends_with(' ')) result.pop_back();
  return result;
}

std::string WithoutLineEnds(std::string_view white_space) {
  std::string result;
  const auto* bytes = reinterpret_cast<const uint8_t*>(white_space.data());
  for (int32_t next = 0, begin = 0; next < std::ssize(white_space); begin = next) {
    UChar32 character;
    U8_NEXT(bytes, next, static_cast<int32_t>(white_space.size()), character);
    const bool ends = (character >= 0x0A && character <= 0x0D) ||
                      (character >= 0x1C && character <= 0x1E) || character == 0x85 ||
                      character == 0x2028 || character == 0x2029;
    result += ends ? " " : white_space.substr(begin, next - begin);
  }
  return result;
}

std::string ReplaceParts(std::string_view text, const std::vector<TextPart>& parts,
                         const std::function<std::string_view(size_t part)>& replacement) {
  std::string result;
  size_t done = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string_view between = text.substr(done, parts[i].begin - done);
    const std::string_view next = replacement(i);
    result += i > 0 && !parts[i].in_word ? Joint(result, between, next) : between;
    result += next;
    done = parts[i].end;
  }
  return result += text.substr(done);
}

}  // namespace attend
