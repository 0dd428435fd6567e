#include "metrics/exact_match.h"

#include <fmt/format.h>

#include <algorithm>

#include "metrics/characters.h"
#include "metrics/percent.h"
#include "metrics/signature.h"
#include "text/utf8.h"

namespace attend {

MetricStatistics ExactMatch::Statistics(std::string_view hypothesis,
                                        const std::vector<std::string_view>& references) const {
  const auto compared = [&](std::string_view text) {
    std::u32string line = CodePoints(text);
    if (lowercase_) line = LowerCase(std::move(line));
    return std::u32string(StripLeft(StripRight(line)));
  };
  const std::u32string own = compared(hypothesis);
  const bool right = std::ranges::any_of(
      references, [&](std::string_view reference) { return compared(reference) == own; });
  return {right ? 1 : 0, 1};
}

double ExactMatch::Score(const MetricStatistics& sums) const { return Percent(sums[0], sums[1]); }

std::string ExactMatch::Details(const MetricStatistics& sums) const {
  return fmt::format("({} of {} texts)", sums[0], sums[1]);
}

std::string ExactMatch::Settings() const {
  return fmt::format("case:{}", lowercase_ ? "lc" : "mixed");
}

std::string ExactMatch::Signature(size_t references) const {
  return SignatureOf(references, Settings());
}

}  // namespace attend
