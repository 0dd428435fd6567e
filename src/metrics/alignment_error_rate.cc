#include "metrics/alignment_error_rate.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/error.h"
#include "metrics/signature.h"

namespace attend {
namespace {

double Rate(int64_t part, int64_t whole) {
  return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 100;
}

int64_t CountIn(const AlignmentLinks& links, const AlignmentLinks& others) {
  return std::count_if(links.begin(), links.end(),
                       [&](const auto& link) { return others.count(link) > 0; });
}

AlignmentLinks Swapped(const AlignmentLinks& links) {
  AlignmentLinks swapped;
  for (const auto& [source, target] : links) swapped.emplace(target, source);
  return swapped;
}

}  // namespace

MetricStatistics Aer::Statistics(std::string_view hypothesis,
                                 const std::vector<std::string_view>& references) const {
  if (references.size() != 1) {
    throw Error(ErrorKind::kUsage,
                fmt::format("AER compares with one reference, {} are given", references.size()));
  }
  const AlignmentLinks predicted = ParsePrediction(hypothesis, "hypothesis").sure;
  Alignment gold = ParseAlignment(references[0], "reference");
  if (options_.swap_reference) gold = {Swapped(gold.sure), Swapped(gold.possible)};
  const int64_t sure = CountIn(predicted, gold.sure);
  return {std::ssize(predicted), std::ssize(gold.sure), sure,
          sure + CountIn(predicted, gold.possible)};
}

double Aer::Score(const MetricStatistics& sums) const {
  return 100 - Rate(sums[2] + sums[3], sums[0] + sums[1]);
}

std::string Aer::Details(const MetricStatistics& sums) const {
  return fmt::format("precision {:.2f} recall {:.2f} (predicted = {} sure = {})",
                     Rate(sums[3], sums[0]), Rate(sums[2], sums[1]), sums[0], sums[1]);
}

std::string Aer::Settings() const {
  return fmt::format("swap:{}", options_.swap_reference ? "yes" : "no");
}

std::string Aer::Signature(size_t references) const { return SignatureOf(references, Settings()); }

}  // namespace attend
