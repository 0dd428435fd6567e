#include "text/sentinels.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace attend {

std::string SentinelText(int64_t number) { return fmt::format("<extra_id_{}>", number); }

std::vector<int32_t> SentinelIds(const Vocabulary& vocabulary) {
  std::vector<int32_t> ids;
  const auto unknown = static_cast<int32_t>(vocabulary.special_ids().unk);
  while (std::ssize(ids) < kMostSentinels) {
    const int32_t id = vocabulary.Id(SentinelText(std::ssize(ids)));
    if (id < 0 || id == unknown) break;
    ids.push_back(id);
  }
  return ids;
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
