#include "tasks/forced_decoding.h"

#include "engine/forward.h"

namespace attend {

void ForcedDecoding::Start(const Weights& weights, std::span<const std::vector<int32_t>> sources,
                           const Sinks& sinks) {
  StartAll(weights, sources, sinks, &activations_, &cache_);
  rows_.clear();
  asking_.clear();
  asked_.clear();
}

void ForcedDecoding::Add(int32_t slot, std::span<const int32_t> tokens, int64_t context) {
  for (int64_t t = 0; t + 1 < std::ssize(tokens); ++t) {
    if (t >= context) {
      asking_.push_back(static_cast<int32_t>(rows_.size()));
      asked_.push_back({.wanted = tokens[t + 1]});
    }
    rows_.push_back({slot, tokens[t]});
  }
}

std::span<const Candidate> ForcedDecoding::Run(const Weights& weights, const Sinks& sinks) {
  Decode(weights, rows_, sinks, &activations_, &cache_);
  KeepRows(weights, asking_, &activations_);
  answers_.resize(asked_.size());
  Predict(weights, 0, asked_, &activations_, answers_.data());
  return answers_;
}

}  // namespace attend
