// chrF and chrF++, with sacreBLEU's order of floating-point operations.
#include <fmt/format.h>

#include <algorithm>

#include "attend/metrics.h"
#include "metrics/characters.h"
#include "metrics/ngrams.h"
#include "text/utf8.h"

namespace attend {
namespace {

bool IsAsciiPunctuation(char32_t c) {
  return (c >= U'!' && c <= U'/') || (c >= U':' && c <= U'@') || (c >= U'[' && c <= U'`') ||
         (c >= U'{' && c <= U'~');
}

// Words with one mark split off: the last where there is one, else the first.
std::vector<std::u32string_view> WordsAndMarks(std::u32string_view line) {
  std::vector<std::u32string_view> words;
  for (const std::u32string_view word : SplitWords(line)) {
    const size_t size = word.size();
    if (size > 1 && IsAsciiPunctuation(word.back())) {
      words.insert(words.end(), {word.substr(0, size - 1), word.substr(size - 1)});
    } else if (size > 1 && IsAsciiPunctuation(word.front())) {
      words.insert(words.end(), {word.substr(0, 1), word.substr(1)});
    } else {
      words.push_back(word);
    }
  }
  return words;
}

Symbols Characters(std::u32string_view line, bool whitespace) {
  if (whitespace) return Symbols(line);
  Symbols characters;
  characters.reserve(line.size());
  for (const char32_t c : line) {
    if (!IsPythonSpace(c)) characters.push_back(c);
  }
  return characters;
}

// n-grams of the hypothesis (0 where the reference has none), of the reference, in both.
void AppendMatches(const std::vector<int32_t>& hypothesis, const std::vector<int32_t>& reference,
                   MetricStatistics* statistics) {
  int64_t in_hypothesis = 0, in_reference = 0, in_both = 0;
  for (size_t g = 0; g < hypothesis.size(); ++g) {
    in_hypothesis += hypothesis[g];
    in_reference += reference[g];
    in_both += std::min(hypothesis[g], reference[g]);
  }
  statistics->insert(statistics->end(),
                     {in_reference > 0 ? in_hypothesis : 0, in_reference, in_both});
}

}  // namespace

std::string Chrf::Name() const {
  return fmt::format("chrF{}{}", options_.beta,
                     std::string(static_cast<size_t>(options_.word_order), '+'));
}

MetricStatistics Chrf::Statistics(std::string_view hypothesis,
                                  const std::vector<std::string_view>& references) const {
  std::vector<std::u32string> lines = {CodePoints(hypothesis)};
  for (const std::string_view reference : references) lines.push_back(CodePoints(reference));
  WordNumbers numbers;
  std::vector<Symbols> characters, words;
  for (std::u32string& line : lines) {
    if (options_.lowercase) line = LowerCase(std::move(line));
    characters.push_back(Characters(line, options_.whitespace));
    if (options_.word_order > 0) words.push_back(numbers.Number(WordsAndMarks(line)));
  }
  std::vector<NgramCounts> orders = CountNgrams(characters, options_.char_order);
  for (NgramCounts& counts : CountNgrams(words, options_.word_order)) {
    orders.push_back(std::move(counts));
  }
  MetricStatistics best;
  double best_score = -1;
  for (size_t r = 1; r <= references.size(); ++r) {
    MetricStatistics statistics;
    for (const NgramCounts& counts : orders) AppendMatches(counts[0], counts[r], &statistics);
    const double score = Score(statistics);
    if (score > best_score) {
      best_score = score;
      best = std::move(statistics);
    }
  }
  return best;
}

double Chrf::Score(const MetricStatistics& sums) const {
  constexpr double kEpsilon = 1e-16;
  const auto factor = static_cast<double>(options_.beta * options_.beta);
  double score = 0, precisions = 0, recalls = 0;
  int64_t effective_order = 0;
  for (size_t i = 0; i < sums.size(); i += 3) {
    const auto hypothesis = static_cast<double>(sums[i]);
    const auto reference = static_cast<double>(sums[i + 1]);
    const auto matches = static_cast<double>(sums[i + 2]);
    const double precision = hypothesis > 0 ? matches / hypothesis : kEpsilon;
    const double recall = reference > 0 ? matches / reference : kEpsilon;
    const double divisor = factor * precision + recall;
    score += divisor > 0 ? (1 + factor) * precision * recall / divisor : kEpsilon;
    if (hypothesis > 0 && reference > 0) {
      precisions += precision;
      recalls += recall;
      ++effective_order;
    }
  }
  if (options_.eps_smoothing) {
    const size_t orders = sums.size() / 3;
    return 100 * score / static_cast<double>(orders);
  }
  if (effective_order == 0) return 0;
  precisions /= static_cast<double>(effective_order);
  recalls /= static_cast<double>(effective_order);
  if (precisions + recalls == 0) return 0;
  return 100 * ((1 + factor) * precisions * recalls / (factor * precisions + recalls));
}

std::string Chrf::Settings() const {
  return fmt::format("case:{}|eff:{}|nc:{}|nw:{}|space:{}", options_.lowercase ? "lc" : "mixed",
                     options_.eps_smoothing ? "no" : "yes", options_.char_order,
                     options_.word_order, options_.whitespace ? "yes" : "no");
}

}  // namespace attend
