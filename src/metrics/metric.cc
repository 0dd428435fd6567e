// What every metric shares: signatures and sums over a corpus.
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "attend/error.h"
#include "attend/metrics.h"
#include "metrics/signature.h"

namespace attend {
namespace {

// Of text `i`.
std::vector<std::string_view> ReferencesOf(size_t i, const ReferenceSets& references,
                                           EmptyReferences empty) {
  std::vector<std::string_view> lines;
  for (const std::vector<std::string>& set : references)
    if (empty == EmptyReferences::kText || !set[i].empty()) lines.push_back(set[i]);
  return lines;
}

}  // namespace

std::string Metric::Details(const MetricStatistics&) const { return ""; }

std::string Metric::Signature(size_t references) const {
  return SignatureOf(references, Settings()) + "|version:2.6.0";
}

std::string SignatureOf(size_t references, const std::string& settings) {
  return fmt::format("nrefs:{}|{}", references == 0 ? "var" : std::to_string(references), settings);
}

std::vector<MetricStatistics> CorpusStatistics(const Metric& metric,
                                               const std::vector<std::string>& hypotheses,
                                               const ReferenceSets& references,
                                               EmptyReferences empty) {
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
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    const std::vector<std::string_view> lines = ReferencesOf(i, references, empty);
    if (lines.empty()) {
      throw Error(ErrorKind::kInput,
                  fmt::format("text {} has no reference: all of its lines are empty", i + 1));
    }
    sentences.push_back(metric.Statistics(hypotheses[i], lines));
  }
  return sentences;
}

size_t CountReferences(const ReferenceSets& references, EmptyReferences empty) {
  const size_t texts = references.empty() ? 0 : references[0].size();
  std::set<size_t> counts;
  for (size_t i = 0; i < texts; ++i) counts.insert(ReferencesOf(i, references, empty).size());
  return counts.size() == 1 ? *counts.begin() : 0;
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
