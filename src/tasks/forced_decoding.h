// The decoder over outputs that are given: how likely each of their tokens is.
#ifndef ATTEND_TASKS_FORCED_DECODING_H_
#define ATTEND_TASKS_FORCED_DECODING_H_

#include <cstdint>
#include <span>
#include <vector>

#include "engine/activations.h"
#include "engine/output_layer.h"
#include "engine/weights.h"

namespace attend {

// One thread's; keeps its memory from run to run.
class ForcedDecoding {
 public:
  // Begins a run: source i as the encoder reads it.
  void Start(const Weights& weights, std::span<const EncoderItem> sources, const Sinks& sinks);
  // The rows of source `source`: they read these tokens but for the last. Each but the first
  // `context` ones is asked for the token that follows it. With `source_rows`, one for each token
  // that is read, those are DecoderRow's.
  void Add(int32_t source, std::span<const int32_t> tokens, int64_t context = 0,
           std::span<const int32_t> source_rows = {});
  // Runs all rows. Their answers, in order, until the next run: the token that follows, and after
  // it the `best` likeliest tokens.
  std::span<const Candidate> Run(const Weights& weights, const Sinks& sinks, int64_t best = 0);

 private:
  Activations activations_;
  DecoderCache cache_;
  std::vector<DecoderRow> rows_;
  std::vector<int32_t> asking_;     // rows, rising
  std::vector<int32_t> following_;  // the token after each of these
  std::vector<NextToken> asked_;
  std::vector<Candidate> answers_;
};

}  // namespace attend

#endif  // ATTEND_TASKS_FORCED_DECODING_H_
