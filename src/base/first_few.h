// What is wrong with many things, for messages.
#ifndef ATTEND_BASE_FIRST_FEW_H_
#define ATTEND_BASE_FIRST_FEW_H_

#include <fmt/format.h>

#include <functional>
#include <ranges>
#include <string>

namespace attend {

// The first five reasons: "a.png: ...; b.png: ... and 12 more". `reason_of` gives that of each.
template <class Range, class ReasonOf = std::identity>
std::string FirstFew(const Range& all, ReasonOf reason_of = {}) {
  constexpr std::ptrdiff_t kNamed = 5;
  std::string text;
  for (const auto& each : all | std::views::take(kNamed)) {
    if (!text.empty()) text += "; ";
    text += std::invoke(reason_of, each);
  }
  const auto more = std::ssize(all) - kNamed;
  return more > 0 ? fmt::format("{} and {} more", text, more) : text;
}

}  // namespace attend

#endif  // ATTEND_BASE_FIRST_FEW_H_
