#include "tasks/forced_decoding.h"

#include "engine/forward.h"

namespace attend {

void ForcedDecoding::Start(const Weights& weights, std::span<const std::vector<int32_t>> sources,
                           const Sinks& sinks) {
  StartAll(weights, sources, sinks, &activations_, &cache_);
  rows_.clear();
  asked_.clear();
}

int64_t ForcedDecoding::AddOutput(int32_t slot, int32_t first, std::span<const int32_t> ids,
                                  int32_t last) {
  int32_t previous = first;
  for (const int32_t id : ids) {
    rows_.push_back({slot, previous});
    asked_.push_back({.wanted = previous = id});
  }
  rows_.push_back({slot, previous});
  asked_.push_back({.wanted = last});
  return std::ssize(ids) + 1;
}

std::span<const Candidate> ForcedDecoding::Run(const Weights& weights, const Sinks& sinks) {
  Decode(weights, rows_, sinks, &activations_, &cache_);
  answers_.resize(asked_.size());
  Predict(weights, 0, asked_, &activations_, answers_.data());
  return answers_;
}

}  // namespace attend
