#include "tasks/language_model/text_attention.h"

#include <fmt/format.h>

#include <vector>

#include "attend/error.h"
#include "tasks/attention_sink.h"
#include "tasks/forced_decoding.h"

namespace attend {

AttentionWeights AttentionOfText(const Weights& weights, std::span<const int32_t> ids) {
  const ModelConfig& config = weights.config();
  const int64_t most = MaxTokens(*config.decoder);
  if (std::ssize(ids) > most) {
    throw Error(ErrorKind::kInput, fmt::format("the text has {} tokens, expected at most {}, the "
                                               "model's learned positions; shorten it",
                                               ids.size(), most));
  }
  std::vector<int32_t> read = {static_cast<int32_t>(config.special_ids.bos)};
  read.insert(read.end(), ids.begin(), ids.end());
  read.push_back(static_cast<int32_t>(config.special_ids.eos));  // which is not read
  AttentionWeights kept;
  const Sinks sinks = {KeepAttention(*config.decoder, &kept), nullptr};
  ForcedDecoding decoding;
  decoding.Start(weights, std::vector<EncoderItem>(1), sinks);
  decoding.Add(0, read);
  decoding.Run(weights, sinks);
  return kept;
}

}  // namespace attend
