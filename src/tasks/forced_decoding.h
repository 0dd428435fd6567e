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
  // Begins a run: source i, as the encoder reads it, in slot i.
  void Start(const Weights& weights, std::span<const std::vector<int32_t>> sources,
             const Sinks& sinks);
  // The rows of a slot: they read `first`, then the ids; each is asked for the token after it, the
  // last one for `last`. Returns how many there are.
  int64_t AddOutput(int32_t slot, int32_t first, std::span<const int32_t> ids, int32_t last);
  // Runs all rows. Their answers, in order, until the next run.
  std::span<const Candidate> Run(const Weights& weights, const Sinks& sinks);

 private:
  Activations activations_;
  DecoderCache cache_;
  std::vector<DecoderRow> rows_;
  std::vector<NextToken> asked_;
  std::vector<Candidate> answers_;
};

}  // namespace attend

#endif  // ATTEND_TASKS_FORCED_DECODING_H_
