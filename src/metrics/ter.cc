// TER over words.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "attend/metrics.h"
#include "metrics/characters.h"
#include "metrics/ter_edits.h"
#include "metrics/tokenizers.h"
#include "text/utf8.h"

namespace attend {
namespace {

// Of a word: the least common multiple of 1 to 16.
constexpr int64_t kParts = 720720;

}  // namespace

MetricStatistics Ter::Statistics(std::string_view hypothesis,
                                 const std::vector<std::string_view>& references) const {
  WordNumbers numbers;
  const auto tokenize = [&](std::string_view text) {
    const std::u32string line = CodePoints(text);
    return TokenizeForTer(options_, std::u32string(StripRight(line)));
  };
  const std::u32string hypothesis_line = tokenize(hypothesis);
  const Symbols words = numbers.Number(SplitWords(hypothesis_line));
  std::vector<std::u32string> lines;
  for (const std::string_view reference : references) lines.push_back(tokenize(reference));
  int64_t fewest = std::numeric_limits<int64_t>::max();
  int64_t reference_words = 0;
  for (const std::u32string& line : lines) {
    const Symbols reference = numbers.Number(SplitWords(line));
    fewest = std::min(fewest, TerEdits(words, reference));
    reference_words += static_cast<int64_t>(reference.size());
  }
  return {fewest, reference_words * kParts / std::ssize(references)};
}

double Ter::Score(const MetricStatistics& sums) const {
  const auto edits = static_cast<double>(sums[0]);
  if (sums[1] == 0) return edits > 0 ? 100 : 0;
  return 100 * (edits / (static_cast<double>(sums[1]) / kParts));
}

std::string Ter::Settings() const {
  const auto yes_no = [](bool value) { return value ? "yes" : "no"; };
  return fmt::format("case:{}|tok:tercom|norm:{}|punct:{}|asian:{}",
                     options_.case_sensitive ? "mixed" : "lc", yes_no(options_.normalized),
                     yes_no(!options_.no_punct), yes_no(options_.asian_support));
}

}  // namespace attend
