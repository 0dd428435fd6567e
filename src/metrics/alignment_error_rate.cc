#include "metrics/alignment_error_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "attend/error.h"
#include "base/excerpt.h"

namespace attend {
namespace {

constexpr std::string_view kSpaces = " \t\r";

// Digits only: from_chars alone would take a sign.
bool ReadPosition(std::string_view text, int64_t* position) {
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(),
                                                   [](char c) { return c >= '0' && c <= '9'; });
  return digits &&
         std::from_chars(text.data(), text.data() + text.size(), *position).ec == std::errc();
}

double Share(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 1;
}

}  // namespace

AlignmentLinks ParseAlignment(std::string_view line, const std::string& where) {
  AlignmentLinks links;
  size_t start = 0;
  while ((start = line.find_first_not_of(kSpaces, start)) != line.npos) {
    const size_t end = std::min(line.find_first_of(kSpaces, start), line.size());
    const std::string_view link = line.substr(start, end - start);
    const size_t dash = link.find('-');
    int64_t source = 0, target = 0;
    if (dash == link.npos || !ReadPosition(link.substr(0, dash), &source) ||
        !ReadPosition(link.substr(dash + 1), &target)) {
      throw Error(ErrorKind::kInput,
                  fmt::format("{}: '{}' is no alignment link, expected two word positions from 0, "
                              "as in 0-0 1-2",
                              where, Excerpt(link)));
    }
    links.emplace(source, target);
    start = end;
  }
  return links;
}

AlignmentLinks Swapped(const AlignmentLinks& links) {
  AlignmentLinks swapped;
  for (const auto& [source, target] : links) swapped.emplace(target, source);
  return swapped;
}

void AlignmentErrorRate::Add(const AlignmentLinks& predicted, const AlignmentLinks& gold) {
  predicted_ += static_cast<int64_t>(predicted.size());
  gold_ += static_cast<int64_t>(gold.size());
  both_ += std::count_if(predicted.begin(), predicted.end(),
                         [&](const auto& link) { return gold.count(link) > 0; });
}

double AlignmentErrorRate::Value() const { return 1 - Share(2 * both_, predicted_ + gold_); }
double AlignmentErrorRate::Precision() const { return Share(both_, predicted_); }
double AlignmentErrorRate::Recall() const { return Share(both_, gold_); }

}  // namespace attend
