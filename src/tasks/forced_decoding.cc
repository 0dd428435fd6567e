#include "tasks/forced_decoding.h"

#include "engine/forward.h"

namespace attend {

void ForcedDecoding::Start(const Weights& weights, std::span<const EncoderItem> sources,
                           const Sinks& sinks) {
  StartAll(weights, sources, sinks, &activations_, &cache_);
  rows_.clear();
  asking_.clear();
  following_.clear();
}

void ForcedDecoding::Add(int32_t source, std::span<const int32_t> tokens, int64_t context,
                         std::span<const int32_t> source_rows) {
  for (int64_t t = 0; t + 1 < std::ssize(tokens); ++t) {
    if (t >= context) {
      asking_.push_back(static_cast<int32_t>(rows_.size()));
      following_.push_back(tokens[t + 1]);
    }
    rows_.push_back({source, tokens[t], source_rows.empty() ? -1 : source_rows[t]});
  }
}

std::span<const Candidate> ForcedDecoding::Run(const Weights& weights, const Sinks& sinks,
                                               int64_t best) {
  Decode(weights, rows_, sinks, &activations_, &cache_);
  KeepRows(weights, asking_, &activations_);
  asked_.clear();
  for (const int32_t& token : following_) {
    asked_.push_back(best == 0 ? NextToken{.wanted = token} : NextToken{.also = {&token, 1}});
  }
  answers_.resize(asked_.size() * (best + 1));
  Predict(weights, best == 0 ? 0 : best + 1, asked_, &activations_, answers_.data());
  return answers_;
}

}  // namespace attend
