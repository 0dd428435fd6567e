#include "engine/row_sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attend {
namespace {

constexpr float kNever = -1e30f;  // a logit that is not drawn; finite, for soft-max
constexpr double kLowest = -std::numeric_limits<double>::infinity();

}  // namespace

void RowSampler::Start(const KernelTable& kernels, const Sampling& sampling) {
  kernels_ = &kernels;
  sampling_ = sampling;
  const SamplingOptions& options = *sampling.options;
  const bool few = options.greedy() || options.top_k > 0;
  const bool plain = options.top_p >= 1 && options.min_p <= 0;
  keeps_ = few ? Keeps::kBest : plain ? Keeps::kWinner : Keeps::kAll;
  seen_logits_.assign(sampling.seen.size(), 0);
  row_V_.clear();
  winners_.assign(sampling.draws.size(), {.noisy = kLowest});
  if (!few) return;
  const int64_t k = options.greedy() ? 1 : options.top_k;
  best_values_.resize(k);
  best_ids_.resize(k);
  best_ = {.values = best_values_.data(),
           .ids = best_ids_.data(),
           .k = k,
           .count = 0,
           .max = -std::numeric_limits<float>::infinity(),
           .sum = 0,
           .with_sum = false};
}

// Copies the block.
void RowSampler::Penalise(std::span<const float> logits, int64_t first) {
  block_.assign(logits.begin(), logits.end());
  if (!sampling_.options->penalises()) return;
  const auto begin = std::ranges::lower_bound(sampling_.seen, first);
  for (auto at = begin; at != sampling_.seen.end(); ++at) {
    const int64_t column = *at - first;
    if (column >= std::ssize(logits)) break;
    seen_logits_[at - sampling_.seen.begin()] = logits[column];
    block_[column] = static_cast<float>(
        Penalised(static_cast<double>(logits[column]), sampling_.options->repetition_penalty));
  }
}

void RowSampler::Take(std::span<const float> logits, int64_t first,
                      std::span<const int32_t> forbidden) {
  if (keeps_ == Keeps::kBest && !sampling_.options->penalises()) {
    kernels_->top_k(logits.data(), std::ssize(logits), static_cast<int32_t>(first),
                    forbidden.data(), std::ssize(forbidden), &best_);
    return;
  }
  Penalise(logits, first);
  if (keeps_ == Keeps::kBest) {
    kernels_->top_k(block_.data(), std::ssize(block_), static_cast<int32_t>(first),
                    forbidden.data(), std::ssize(forbidden), &best_);
    return;
  }
  for (const int32_t id : forbidden) {
    if (id >= first && id < first + std::ssize(block_)) block_[id - first] = kNever;
  }
  if (keeps_ == Keeps::kAll) {
    row_V_.insert(row_V_.end(), block_.begin(), block_.end());
  } else {
    TakeWinner(first);
  }
}

void RowSampler::TakeWinner(int64_t first) {
  const auto inverse = static_cast<float>(1 / sampling_.options->temperature);
  shares_.resize(block_.size());
  for (size_t i = 0; i < block_.size(); ++i) shares_[i] = std::max(block_[i] * inverse, kNever);
  float value = 0;
  int32_t id = 0;
  TopK sum = {.values = &value,
              .ids = &id,
              .k = 1,
              .count = 0,
              .max = -std::numeric_limits<float>::infinity(),
              .sum = 0,
              .with_sum = true};
  const int64_t count = std::ssize(block_);
  kernels_->top_k(shares_.data(), count, 0, nullptr, 0, &sum);
  if (sum.max <= kNever / 2) return;  // all are forbidden
  const double log_sum = static_cast<double>(sum.max) + std::log(static_cast<double>(sum.sum));
  bool shared = false;
  for (size_t d = 0; d < winners_.size(); ++d) {
    const Draw& draw = sampling_.draws[d];
    const double noisy = log_sum + GumbelOf(draw, 2 * first);
    if (!(noisy > winners_[d].noisy)) continue;
    if (!shared) kernels_->softmax(shares_.data(), count);
    shared = true;
    const size_t at = ChooseInBlock(UniformOf(draw, 2 * first + 1));
    winners_[d] = {noisy, static_cast<int32_t>(first + static_cast<int64_t>(at)), block_[at]};
  }
}

size_t RowSampler::ChooseInBlock(double uniform) const {
  double all = 0, sum = 0;
  size_t last = 0;
  for (size_t i = 0; i < block_.size(); ++i) {
    if (block_[i] > kNever) all += static_cast<double>(shares_[i]);
  }
  for (size_t i = 0; i < block_.size(); ++i) {
    if (block_[i] <= kNever) continue;
    sum += static_cast<double>(shares_[i]);
    last = i;
    if (uniform * all < sum) break;
  }
  return last;
}

float RowSampler::LogitOf(int32_t id, float given) const {
  if (!sampling_.options->penalises()) return given;
  const auto at = std::ranges::lower_bound(sampling_.seen, id);
  const bool seen = at != sampling_.seen.end() && *at == id;
  return seen ? seen_logits_[at - sampling_.seen.begin()] : given;
}

void RowSampler::Finish(double log_sum, Candidate* drawn) {
  const SamplingOptions& options = *sampling_.options;
  std::span<const int32_t> ids;
  std::span<const float> falling;
  if (keeps_ == Keeps::kAll) {
    likeliest_.Take(row_V_, options);
    const auto never = std::ranges::find_if(likeliest_.logits, [](float x) { return x <= kNever; });
    falling = {likeliest_.logits.begin(), never};
    ids = likeliest_.ids;
  } else if (keeps_ == Keeps::kBest) {
    falling = {best_.values, static_cast<size_t>(best_.count)};
    if (!falling.empty() && !options.greedy()) falling = falling.first(CountKept(falling, options));
    ids = {best_.ids, static_cast<size_t>(best_.count)};
  }
  for (size_t d = 0; d < winners_.size(); ++d) {
    Winner winner = winners_[d];
    if (!falling.empty()) {
      const size_t at =
          options.greedy() ? 0
                           : Choose(falling, options.temperature, UniformOf(sampling_.draws[d], 0));
      winner = {0, ids[at], falling[at]};
    }
    drawn[d] = {winner.id,
                std::min(0.0, static_cast<double>(LogitOf(winner.id, winner.logit)) - log_sum)};
  }
}

}  // namespace attend
