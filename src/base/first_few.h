// What is wrong with many things, for messages.
#ifndef ATTEND_BASE_FIRST_FEW_H_
#define ATTEND_BASE_FIRST_FEW_H_

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ranges>
#include <string>

#include "base/counted.h"

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

// "2 of 9 pictures are left out: a.png: ...", or "" of none. `all`: how many there were; `one`:
// what each is.
template <class Range, class ReasonOf>
std::string LeftOutOf(const Range& left_out, ReasonOf reason_of, int64_t all,
                      const std::string& one) {
  const auto count = std::ssize(left_out);
  if (count == 0) return "";
  return fmt::format("{} of {} {} left out: {}", count, Counted(all, one),
                     count == 1 ? "is" : "are", FirstFew(left_out, reason_of));
}

}  // namespace attend

#endif  // ATTEND_BASE_FIRST_FEW_H_
