// BLEU, with sacreBLEU's order of floating-point operations.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "attend/metrics.h"
#include "metrics/characters.h"
#include "metrics/metric_fields.h"
#include "metrics/ngrams.h"
#include "metrics/piece_tokenizer.h"
#include "metrics/tokenizer_choice.h"
#include "metrics/tokenizers.h"
#include "text/utf8.h"

namespace attend {
namespace {

constexpr size_t kMaxOrder = 4;

struct BleuParts {
  double score = 0;
  std::array<double, kMaxOrder> precisions = {};
  double brevity_penalty = 1;
};

double SmoothValue(const BleuOptions& options) {
  if (options.smooth_value >= 0) return options.smooth_value;
  return options.smooth_method == BleuSmoothing::kFloor ? 0.1 : 1;
}

// sacreBLEU's floor of the logarithm, low enough to make the mean's exponential 0.
double FlooredLog(double value) { return value == 0 ? -9999999999 : std::log(value); }

double BrevityPenalty(double hypothesis_length, double reference_length) {
  if (hypothesis_length >= reference_length) return 1;
  return hypothesis_length > 0 ? std::exp(1 - reference_length / hypothesis_length) : 0;
}

BleuParts Compute(const BleuOptions& options, const MetricStatistics& sums) {
  BleuParts parts;
  parts.brevity_penalty =
      BrevityPenalty(static_cast<double>(sums[0]), static_cast<double>(sums[1]));
  const int64_t* matches = &sums[2];
  const int64_t* totals = &sums[2 + kMaxOrder];
  if (std::all_of(matches, matches + kMaxOrder, [](int64_t count) { return count == 0; })) {
    return parts;
  }
  const double smooth_value = SmoothValue(options);
  double halvings = 1;
  size_t effective_order = kMaxOrder;
  for (size_t n = 0; n < kMaxOrder; ++n) {
    auto correct = static_cast<double>(matches[n]);
    auto total = static_cast<double>(totals[n]);
    if (options.smooth_method == BleuSmoothing::kAddK && n > 0) {
      correct += smooth_value;
      total += smooth_value;
    }
    if (total == 0) break;
    if (options.effective_order) effective_order = n + 1;
    if (correct != 0) {
      parts.precisions[n] = 100. * correct / total;
    } else if (options.smooth_method == BleuSmoothing::kExp) {
      halvings *= 2;
      parts.precisions[n] = 100. / (halvings * total);
    } else if (options.smooth_method == BleuSmoothing::kFloor) {
      parts.precisions[n] = 100. * smooth_value / total;
    }
  }
  double logarithms = 0;
  for (size_t n = 0; n < effective_order; ++n) logarithms += FlooredLog(parts.precisions[n]);
  parts.score = parts.brevity_penalty * std::exp(logarithms / static_cast<double>(effective_order));
  return parts;
}

// The length of the reference nearest to the hypothesis, the shorter of two equally near.
int64_t ClosestLength(const std::vector<Symbols>& sequences) {
  const auto hypothesis = static_cast<int64_t>(sequences[0].size());
  auto closest = static_cast<int64_t>(sequences[1].size());
  for (size_t r = 2; r < sequences.size(); ++r) {
    const auto length = static_cast<int64_t>(sequences[r].size());
    const int64_t nearer = std::abs(closest - hypothesis) - std::abs(length - hypothesis);
    if (nearer > 0 || (nearer == 0 && length < closest)) closest = length;
  }
  return closest;
}

}  // namespace

Bleu::Bleu(const BleuOptions& options) : options_(options) {
  if (options_.tokenize == BleuTokenizer::kAuto) options_.tokenize = TokenizerOf(options_.language);
  pieces_ = LoadPieceTokenizer(options_);
}

MetricStatistics Bleu::Statistics(std::string_view hypothesis,
                                  const std::vector<std::string_view>& references) const {
  std::vector<std::u32string> lines;
  const auto tokenize = [&](std::string_view text) {
    std::u32string line = CodePoints(text);
    if (options_.lowercase) line = LowerCase(std::move(line));
    const std::u32string_view stripped = StripRight(line);
    lines.push_back(pieces_ ? pieces_->Tokenize(stripped)
                            : TokenizeForBleu(options_.tokenize, stripped));
  };
  tokenize(hypothesis);
  for (const std::string_view reference : references) tokenize(reference);
  WordNumbers words;
  std::vector<Symbols> sequences;
  for (const std::u32string& line : lines) sequences.push_back(words.Number(SplitWords(line)));

  MetricStatistics statistics(2 + 2 * kMaxOrder, 0);
  statistics[0] = static_cast<int64_t>(sequences[0].size());
  statistics[1] = ClosestLength(sequences);
  const std::vector<NgramCounts> orders = CountNgrams(sequences, kMaxOrder);
  for (size_t n = 0; n < kMaxOrder; ++n) {
    const NgramCounts& counts = orders[n];
    for (size_t g = 0; g < counts[0].size(); ++g) {
      int32_t most = 0;
      for (size_t r = 1; r < counts.size(); ++r) most = std::max(most, counts[r][g]);
      statistics[2 + n] += std::min(counts[0][g], most);
      statistics[2 + kMaxOrder + n] += counts[0][g];
    }
  }
  return statistics;
}

double Bleu::Score(const MetricStatistics& sums) const { return Compute(options_, sums).score; }

std::string Bleu::Details(const MetricStatistics& sums) const {
  const BleuParts parts = Compute(options_, sums);
  const double ratio =
      sums[1] > 0 ? static_cast<double>(sums[0]) / static_cast<double>(sums[1]) : 0;
  return fmt::format(
      "{:.1f}/{:.1f}/{:.1f}/{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} ref_len = {})",
      parts.precisions[0], parts.precisions[1], parts.precisions[2], parts.precisions[3],
      parts.brevity_penalty, ratio, sums[0], sums[1]);
}

std::string Bleu::Settings() const {
  BleuOptions options = options_;
  const FieldList fields = Fields(options);
  std::string tokenizer = fields.Get("tokenize", "").ValueText();
  if (options_.tokenize == BleuTokenizer::kSpm) tokenizer += fmt::format("[{}]", pieces_->digest());
  std::string smoothing = fields.Get("smooth_method", "").ValueText();
  if (options_.smooth_method == BleuSmoothing::kFloor ||
      options_.smooth_method == BleuSmoothing::kAddK) {
    smoothing += fmt::format("[{:.2f}]", SmoothValue(options_));
  }
  return fmt::format("case:{}|eff:{}|tok:{}|smooth:{}", options_.lowercase ? "lc" : "mixed",
                     options_.effective_order ? "yes" : "no", tokenizer, smoothing);
}

}  // namespace attend
