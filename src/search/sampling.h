// Drawing the next token of an output at random.
//
// All random numbers of a draw follow from its key, so an output is the same alone and among
// others, on any thread.
#ifndef ATTEND_SEARCH_SAMPLING_H_
#define ATTEND_SEARCH_SAMPLING_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace attend {

// Of what is drawn: with a lower one logits over it leave the range of f32.
inline constexpr double kLeastTemperature = 0.01;

// What a token is drawn from. Each rule narrows what those before it leave.
struct SamplingOptions {
  // Logits of tokens that the prompt or the output has are divided by it where they are positive,
  // and multiplied where they are not (Keskar et al. 2019, section 4.1).
  double repetition_penalty = 1;
  // Logits are divided by it: at least kLeastTemperature, or 0: the likeliest token is taken.
  double temperature = 1;
  int64_t top_k = 0;  // so many likeliest tokens; 0: all
  double top_p = 1;   // the fewest likeliest with at least this probability together
  double min_p = 0;   // those with at least this share of the likeliest one's probability

  bool greedy() const { return temperature == 0; }
  bool penalises() const { return repetition_penalty != 1; }
};

// Which token is drawn: that of step `step` in output number `sample` of what `key` stands for.
struct Draw {
  uint64_t key = 0;
  int64_t sample = 0;
  int64_t step = 0;
};

// The key of all draws that follow a prompt.
uint64_t DrawKey(uint64_t seed, std::span<const int32_t> prompt);

// Number `index` of a draw: uniform in [0, 1), or from the Gumbel distribution.
double UniformOf(const Draw& draw, int64_t index);
double GumbelOf(const Draw& draw, int64_t index);

double Penalised(double logit, double repetition_penalty);

// How many of these tokens top_p and min_p leave; their logits fall and are penalised, and top_k
// has left them. At least 1. Precondition: `falling` is not empty, the temperature not 0.
size_t CountKept(std::span<const float> falling, const SamplingOptions& options);

// The one of the kept ones that a uniform number chooses.
size_t Choose(std::span<const float> kept, double temperature, double uniform);

// All that top_p and min_p can leave of a whole row: ids and logits, the likeliest first, ties by
// rising id. `logits` by id; -infinity: the token must not be drawn.
struct Likeliest {
  std::vector<int32_t> ids;
  std::vector<float> logits;

  void Take(std::span<const float> logits_V, const SamplingOptions& options);
};

}  // namespace attend

#endif  // ATTEND_SEARCH_SAMPLING_H_
