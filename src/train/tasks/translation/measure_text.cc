#include "train/tasks/translation/measure_text.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/thread_pool.h"
#include "text/lines.h"
#include "text/text_parts.h"

namespace attend {
namespace {

constexpr int64_t kMostPairs = 50000;
constexpr size_t kBlockPairs = 256;

struct Pair {
  int64_t tokens[2] = {};
  double weight = 1;  // how many pairs it stands for
  bool kept = false, several = false;
};

// Before it is measured.
struct PairText {
  std::string text[2];
  Pair pair;
};

double RatioOf(const Pair& pair) {
  return static_cast<double>(pair.tokens[1] + 1) / static_cast<double>(pair.tokens[0] + 1);
}

// For people to read.
double Rounded(double value) { return std::round(value * 1e4) / 1e4; }

// Values with their weights.
class Quantiles {
 public:
  template <class Value>
  Quantiles(const std::vector<Pair>& pairs, Value value) {
    for (const Pair& pair : pairs) {
      values_.emplace_back(value(pair), pair.weight);
      total_ += pair.weight;
    }
    std::sort(values_.begin(), values_.end());
  }
  // The least value that this share of the weight does not exceed.
  double At(double share) const {
    double weight = 0;
    for (const auto& [value, its] : values_) {
      weight += its;
      if (weight >= share * total_) return value;
    }
    return values_.back().first;
  }

 private:
  std::vector<std::pair<double, double>> values_;
  double total_ = 0;
};

class Measurement {
 public:
  Measurement(const LineCorpus& corpus, std::string language, int threads)
      : corpus_(corpus), language_(std::move(language)), pool_(threads) {}

  void AddFile(int64_t file, int64_t files, double weight) {
    const int64_t lines = corpus_.digests()[file].lines;
    const int64_t most = std::max<int64_t>(kMostPairs / files, 1);
    const int64_t step = std::max<int64_t>((lines + most - 1) / most, 1);
    LineReader source(corpus_.columns()[0].files[file]), target(corpus_.columns()[1].files[file]);
    std::vector<PairText> block;
    PairText next;
    next.pair.weight = static_cast<double>(step) * weight;
    while (source.Next(&next.text[0]) && target.Next(&next.text[1])) {
      if ((source.lines() - 1) % step != 0) continue;
      next.text[0] = corpus_.columns()[0].WithPrefix(file, std::move(next.text[0]));
      block.push_back(next);
      if (block.size() == kBlockPairs) Measure(&block);
    }
    Measure(&block);
  }

  const std::vector<Pair>& pairs() const { return pairs_; }

 private:
  // Keeps what the filters keep, and empties the block.
  void Measure(std::vector<PairText>* block) {
    pool_.ParallelFor(std::ssize(*block), [&](int64_t i, int) { MeasurePair(&(*block)[i]); });
    for (const PairText& measured : *block) {
      if (measured.pair.kept) pairs_.push_back(measured.pair);
    }
    block->clear();
  }

  void MeasurePair(PairText* given) const {
    Pair& pair = given->pair;
    for (const size_t side : {0, 1}) {
      pair.tokens[side] = std::ssize(corpus_.columns()[side].vocabulary->Encode(given->text[side]));
    }
    pair.kept = corpus_.Keeps(pair.tokens);
    pair.several = pair.kept && SentenceParts(given->text[0], language_).size() > 1;
  }

  const LineCorpus& corpus_;
  std::string language_;
  ThreadPool pool_;
  std::vector<Pair> pairs_;
};

TrainingText::Tokens TokensOf(const std::vector<Pair>& pairs, size_t side) {
  const Quantiles lengths(pairs, [&](const Pair& pair) { return pair.tokens[side]; });
  const auto at = [&](double share) { return static_cast<int64_t>(lengths.At(share)); };
  return {at(0.5), at(0.9), at(0.99), at(1)};
}

TrainingText::Ratio RatioOf(const std::vector<Pair>& pairs) {
  const Quantiles ratios(pairs, [](const Pair& pair) { return RatioOf(pair); });
  const auto at = [&](double share) { return Rounded(ratios.At(share)); };
  return {at(0.5), at(0.9), at(0.99), at(1)};
}

}  // namespace

std::optional<TrainingText> MeasureText(const LineCorpus& corpus, int64_t pair_files,
                                        const std::vector<double>& weights,
                                        const std::string& language, int threads) {
  Measurement measurement(corpus, language, threads);
  const int64_t files = pair_files > 0 ? pair_files : std::ssize(corpus.columns()[0].files);
  for (int64_t file = 0; file < files; ++file)
    measurement.AddFile(file, files, weights.empty() ? 1 : weights[file]);
  const std::vector<Pair>& pairs = measurement.pairs();
  if (pairs.empty()) return std::nullopt;
  double total = 0, several = 0;
  for (const Pair& pair : pairs) {
    total += pair.weight;
    if (pair.several) several += pair.weight;
  }
  return TrainingText{TokensOf(pairs, 0), TokensOf(pairs, 1), RatioOf(pairs),
                      Rounded(several / total)};
}

}  // namespace attend
