// What is wrong with many things, for messages.
#ifndef ATTEND_BASE_FIRST_FEW_H_
#define ATTEND_BASE_FIRST_FEW_H_

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <ranges>
#include <string>

namespace attend {

inline constexpr std::ptrdiff_t kNamedReasons = 5;

// The first five reasons: "a.png: ...; b.png: ... and 12 more". `reason_of` gives that of each.
// `total`: how many there are, where `all` has the first kNamedReasons alone.
template <class Range, class ReasonOf = std::identity>
std::string FirstFew(const Range& all, ReasonOf reason_of = {}, std::ptrdiff_t total = 0) {
  std::string text;
  for (const auto& each : all | std::views::take(kNamedReasons)) {
    if (!text.empty()) text += "; ";
    text += std::invoke(reason_of, each);
  }
  const std::ptrdiff_t more = std::max(total, std::ssize(all)) - kNamedReasons;
  return more > 0 ? fmt::format("{} and {} more", text, more) : text;
}

}  // namespace attend

#endif  // ATTEND_BASE_FIRST_FEW_H_
