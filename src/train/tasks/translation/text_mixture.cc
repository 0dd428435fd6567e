#include "train/tasks/translation/text_mixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attend/error.h"
#include "data/line_corpus.h"
#include "text/lines.h"
#include "train/tasks/translation/translation_train_options.h"

namespace attend {

std::vector<CorpusColumn> PairColumns(const std::vector<std::string>& source,
                                      const std::vector<std::string>& target,
                                      const std::vector<std::string>& prefixes,
                                      const Vocabularies& vocabularies, const ModelConfig& model) {
  std::vector<CorpusColumn> columns = {SourceColumn(source, vocabularies.source),
                                       TargetColumn(target, vocabularies.target)};
  columns[0].frame = model.SourceFrame();
  columns[0].prefixes = prefixes;
  columns[1].frame = model.TargetFrame();
  return columns;
}

std::vector<CorpusColumn> TrainingColumns(const TrainOptions& options,
                                          const Vocabularies& vocabularies) {
  const CorpusOptions& corpus = TranslationOf(options).corpus;
  std::vector<CorpusColumn> columns = PairColumns(
      corpus.train_source, corpus.train_target, corpus.train_prefixes, vocabularies, options.model);
  for (CorpusColumn& column : columns)
    column.files.insert(column.files.end(), corpus.train_text.begin(), corpus.train_text.end());
  if (!corpus.train_alignments.empty()) columns.push_back(LinkColumn(corpus.train_alignments));
  return columns;
}

std::shared_ptr<const Denoising> DenoisingOf(const TrainOptions& options,
                                             const Vocabularies& vocabularies) {
  const CorpusOptions& corpus = TranslationOf(options).corpus;
  if (corpus.train_text.empty()) return nullptr;
  if (!vocabularies.joint()) {
    throw Error(ErrorKind::kConfiguration,
                "objective = denoising needs one vocabulary for both sides, but the model has two; "
                "start without init, or from another model");
  }
  const std::vector<std::string>& languages = options.model.languages;
  return std::make_shared<const Denoising>(corpus.denoising, vocabularies.source,
                                           languages.empty() ? "" : languages[0]);
}

std::vector<double> MixingWeights(const std::vector<int64_t>& examples, double temperature,
                                  double limit) {
  std::vector<double> shares;
  for (const int64_t count : examples) {
    const auto counted = static_cast<double>(count);
    shares.push_back(std::pow(limit > 0 ? std::min(counted, limit) : counted, 1 / temperature));
  }
  const double share_of_all = std::accumulate(shares.begin(), shares.end(), 0.0);
  const auto all =
      static_cast<double>(std::accumulate(examples.begin(), examples.end(), int64_t{0}));
  std::vector<double> weights;
  for (size_t i = 0; i < shares.size(); ++i) {
    const double wanted = all * shares[i] / share_of_all;
    weights.push_back(examples[i] > 0 ? wanted / static_cast<double>(examples[i]) : 1);
  }
  return weights;
}

std::vector<double> WeightsOf(const TrainOptions& options, const Log& log) {
  const CorpusOptions& corpus = TranslationOf(options).corpus;
  if (corpus.mixing_temperature == 0) return corpus.train_weights;
  std::vector<std::string> files = corpus.train_source;
  files.insert(files.end(), corpus.train_text.begin(), corpus.train_text.end());
  std::vector<int64_t> examples;
  for (const std::string& file : files) examples.push_back(CountLines(file));
  const int64_t all = std::accumulate(examples.begin(), examples.end(), int64_t{0});
  if (all == 0) return {};
  const std::vector<double> weights =
      MixingWeights(examples, corpus.mixing_temperature, static_cast<double>(corpus.mixing_limit));
  for (size_t i = 0; i < files.size(); ++i) {
    const double used = weights[i] * static_cast<double>(examples[i]);
    log(LogLevel::kInfo,
        fmt::format("mixing: {:.2f} % of an epoch are of '{}', {} lines {:.4g} times",
                    100 * used / static_cast<double>(all), files[i], examples[i], weights[i]));
  }
  return weights;
}

}  // namespace attend
