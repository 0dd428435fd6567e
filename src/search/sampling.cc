#include "search/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.h"

namespace attend {
namespace {

// Of a token's probability to the likeliest one's.
double ShareOf(float logit, float likeliest, double temperature) {
  return std::exp((static_cast<double>(logit) - static_cast<double>(likeliest)) / temperature);
}

}  // namespace

uint64_t DrawKey(uint64_t seed, std::span<const int32_t> prompt) {
  uint64_t key = Random({seed}).Next();
  for (const int32_t id : prompt) key = Random({key, static_cast<uint64_t>(id)}).Next();
  return key;
}

double UniformOf(const Draw& draw, int64_t index) {
  return Random({draw.key, static_cast<uint64_t>(draw.sample), static_cast<uint64_t>(draw.step),
                 static_cast<uint64_t>(index)})
      .Uniform();
}

double GumbelOf(const Draw& draw, int64_t index) {
  constexpr double kLeast = 0x1.0p-54;  // in place of 0, whose logarithm is none
  return -std::log(-std::log(std::max(UniformOf(draw, index), kLeast)));
}

double Penalised(double logit, double repetition_penalty) {
  return logit > 0 ? logit / repetition_penalty : logit * repetition_penalty;
}

size_t CountKept(std::span<const float> falling, const SamplingOptions& options) {
  const auto share = [&](float logit) { return ShareOf(logit, falling[0], options.temperature); };
  size_t kept = falling.size();
  if (options.top_p < 1) {
    double all = 0, sum = 0;
    for (const float logit : falling) all += share(logit);
    for (kept = 0; kept < falling.size() && (kept == 0 || sum < options.top_p * all); ++kept) {
      sum += share(falling[kept]);
    }
  }
  while (kept > 1 && share(falling[kept - 1]) < options.min_p) --kept;
  return kept;
}

size_t Choose(std::span<const float> kept, double temperature, double uniform) {
  double all = 0, sum = 0;
  for (const float logit : kept) all += ShareOf(logit, kept[0], temperature);
  for (size_t i = 0; i + 1 < kept.size(); ++i) {
    sum += ShareOf(kept[i], kept[0], temperature);
    if (uniform * all < sum) return i;
  }
  return kept.size() - 1;
}

// Sorts no more than it needs to: first as many as usual, then more and more.
void Likeliest::Take(std::span<const float> logits_V, const SamplingOptions& options) {
  ids.clear();
  double all = 0;
  const float likeliest = *std::ranges::max_element(logits_V);
  for (size_t id = 0; id < logits_V.size(); ++id) {
    const double share = ShareOf(logits_V[id], likeliest, options.temperature);
    all += share;
    if (share > 0 && share >= options.min_p) ids.push_back(static_cast<int32_t>(id));
  }
  const auto likelier = [&](int32_t a, int32_t b) {
    return logits_V[a] != logits_V[b] ? logits_V[a] > logits_V[b] : a < b;
  };
  size_t sorted = 0;
  double sum = 0;
  for (size_t count = 64; sorted < ids.size(); count *= 8) {
    const size_t next = std::min(ids.size(), sorted + count);
    std::partial_sort(ids.begin() + static_cast<std::ptrdiff_t>(sorted),
                      ids.begin() + static_cast<std::ptrdiff_t>(next), ids.end(), likelier);
    const auto wanted = [&] {
      return options.top_p >= 1 || sorted == 0 || sum < options.top_p * all;
    };
    for (; sorted < next && wanted(); ++sorted) {
      sum += ShareOf(logits_V[ids[sorted]], likeliest, options.temperature);
    }
    if (sorted < next) break;
  }
  ids.resize(sorted);
  logits.clear();
  for (const int32_t id : ids) logits.push_back(logits_V[id]);
}

}  // namespace attend
