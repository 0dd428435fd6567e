#include "text/alignment_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "attend/error.h"
#include "base/excerpt.h"

namespace attend {
namespace {

constexpr std::string_view kSpaces = " \t\r";
constexpr std::string_view kFieldEnd = "|||";

// Digits only: from_chars alone would take a sign.
bool ReadPosition(std::string_view text, int64_t* position) {
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(),
                                                   [](char c) { return c >= '0' && c <= '9'; });
  return digits &&
         std::from_chars(text.data(), text.data() + text.size(), *position).ec == std::errc();
}

}  // namespace

Alignment ParseAlignment(std::string_view line, const std::string& where) {
  if (const size_t end = line.rfind(kFieldEnd); end != line.npos) {
    line.remove_prefix(end + kFieldEnd.size());
  }
  Alignment alignment;
  size_t start = 0;
  while ((start = line.find_first_not_of(kSpaces, start)) != line.npos) {
    const size_t end = std::min(line.find_first_of(kSpaces, start), line.size());
    const std::string_view link = line.substr(start, end - start);
    const size_t mark = link.find_first_of("-?p");
    int64_t source = 0, target = 0;
    if (mark == link.npos || !ReadPosition(link.substr(0, mark), &source) ||
        !ReadPosition(link.substr(mark + 1), &target)) {
      throw Error(ErrorKind::kInput,
                  fmt::format("{}: '{}' is no alignment link, expected two word positions from 0, "
                              "as in 0-0 1-2",
                              where, Excerpt(link)));
    }
    (link[mark] == '-' ? alignment.sure : alignment.possible).emplace(source, target);
    start = end;
  }
  for (const auto& link : alignment.sure) alignment.possible.erase(link);
  return alignment;
}

Alignment ParsePrediction(std::string_view line, const std::string& where) {
  Alignment alignment = ParseAlignment(line, where);
  if (!alignment.possible.empty()) {
    const auto& [source, target] = *alignment.possible.begin();
    throw Error(ErrorKind::kInput,
                fmt::format("{}: link {}-{} is marked as possible, which only a reference's may be",
                            where, source, target));
  }
  return alignment;
}

}  // namespace attend
