// What every metric shares: signatures and sums over a corpus.
#include <fmt/format.h>

#include <cmath>

#include "attend/error.h"
#include "attend/metrics.h"

namespace attend {

std::string Metric::Details(const MetricStatistics&) const { return ""; }

std::string Metric::Signature(size_t references) const {
  return fmt::format("nrefs:{}|{}|version:2.6.0", references, Settings());
}

std::vector<MetricStatistics> CorpusStatistics(const Metric& metric,
                                               const std::vector<std::string>& hypotheses,
                                               const ReferenceSets& references) {
  if (hypotheses.empty() || references.empty()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{} has {} hypotheses and {} sets of references, expected one at least",
                            metric.Name(), hypotheses.size(), references.size()));
  }
  for (const std::vector<std::string>& set : references) {
    if (set.size() == hypotheses.size()) continue;
    throw Error(ErrorKind::kUsage,
                fmt::format("{} has {} references for {} hypotheses, expected one for each",
                            metric.Name(), set.size(), hypotheses.size()));
  }
  std::vector<MetricStatistics> sentences;
  sentences.reserve(hypotheses.size());
  std::vector<std::string_view> lines(references.size());
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    for (size_t r = 0; r < references.size(); ++r) lines[r] = references[r][i];
    sentences.push_back(metric.Statistics(hypotheses[i], lines));
  }
  return sentences;
}

MetricStatistics SumStatistics(const std::vector<MetricStatistics>& sentences) {
  MetricStatistics sums;
  for (const MetricStatistics& sentence : sentences) {
    sums.resize(sentence.size(), 0);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += sentence[i];
  }
  return sums;
}

double CorpusScore(const Metric& metric, const std::vector<std::string>& hypotheses,
                   const ReferenceSets& references) {
  return metric.Score(SumStatistics(CorpusStatistics(metric, hypotheses, references)));
}

double CorpusBleu(const std::vector<std::string>& hypotheses,
                  const std::vector<std::string>& references, const BleuOptions& options) {
  return CorpusScore(Bleu(options), hypotheses, {references});
}

double CorpusChrf(const std::vector<std::string>& hypotheses,
                  const std::vector<std::string>& references, const ChrfOptions& options) {
  return CorpusScore(Chrf(options), hypotheses, {references});
}

double Perplexity(double log_probability, int64_t tokens) {
  return std::exp(-log_probability / static_cast<double>(tokens));
}

}  // namespace attend
