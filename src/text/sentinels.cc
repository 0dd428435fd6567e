#include "text/sentinels.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "text/numbered_tokens.h"

namespace attend {

std::string SentinelText(int64_t number) { return fmt::format("<extra_id_{}>", number); }

std::vector<int32_t> SentinelIds(const Vocabulary& vocabulary) {
  return NumberedIds(vocabulary, SentinelText, kMostSentinels);
}

std::string DecodeWithMarks(const Vocabulary& vocabulary, std::span<const int32_t> ids,
                            std::span<const int32_t> marks) {
  std::string text;
  const auto add = [&](std::string_view part) {
    if (part.starts_with(' ')) part.remove_prefix(1);
    if (part.empty()) return;
    if (!text.empty()) text += ' ';
    text += part;
  };
  const auto is_mark = [&](int32_t id) { return std::ranges::find(marks, id) != marks.end(); };
  for (size_t begin = 0; begin < ids.size();) {
    size_t end = begin;
    while (end < ids.size() && !is_mark(ids[end])) ++end;
    add(vocabulary.Decode(ids.subspan(begin, end - begin)));
    if (end < ids.size()) add(vocabulary.Piece(ids[end]));
    begin = end + 1;
  }
  return text;
}

}  // namespace attend
