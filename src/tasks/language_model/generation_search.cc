#include "tasks/language_model/generation_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "attend/error.h"
#include "tasks/checks.h"
#include "tasks/language_model/generation_options.h"

namespace attend {

SearchModel MakeSearchModel(const Weights& weights) {
  if (!weights.vocabulary_head || weights.encoder) {
    throw Error(ErrorKind::kUsage,
                "a language model is a decoder alone with a vocabulary head; this model is not");
  }
  const SpecialIds& ids = weights.config().special_ids;
  return {&weights,
          nullptr,
          {.max_beam_size = kMostOutputs,
           .prompt = {static_cast<int32_t>(ids.bos)},
           .eos = static_cast<int32_t>(ids.eos)}};
}

SearchInput MakeSearchInput(const Weights& weights, std::span<const int32_t> prompt,
                            const GenerationOptions& options, const std::string& name) {
  const ModelConfig& config = weights.config();
  CheckIds(prompt, config.target_vocab_size);
  const int64_t most = MaxTokens(*config.decoder), tokens = std::ssize(prompt);
  if (tokens > most) {
    throw Error(ErrorKind::kInput,
                fmt::format("{} has {} tokens, expected at most {}, the model's learned positions; "
                            "shorten it",
                            name, tokens, most));
  }
  const bool bound = most < std::numeric_limits<int64_t>::max();
  SearchInput input;
  input.prompt.push_back(static_cast<int32_t>(config.special_ids.bos));
  input.prompt.insert(input.prompt.end(), prompt.begin(), prompt.end());
  input.max_length = bound ? std::min(options.max_tokens, most + 1 - tokens) : options.max_tokens;
  input.options.min_length = options.min_tokens;
  input.options.allow_unknown = options.allow_unknown;
  if (options.beam_size == 1) {
    input.sample = SampleOptions{.sampling = {.repetition_penalty = options.repetition_penalty,
                                              .temperature = options.temperature,
                                              .top_k = options.top_k,
                                              .top_p = options.top_p,
                                              .min_p = options.min_p},
                                 .count = options.n,
                                 .seed = static_cast<uint64_t>(options.seed)};
    return input;
  }
  input.options.beam_size = options.beam_size;
  input.options.n_best = options.n;
  input.options.length_penalty = options.length_penalty;
  return input;
}

GrowingOutputs::GrowingOutputs(const Vocabulary* vocabulary, std::span<const int32_t> prompt,
                               const GenerationOptions& options, Show show)
    : options_(options), show_(std::move(show)), texts_(options.n) {
  if (vocabulary != nullptr) continuation_.emplace(vocabulary, prompt);
}

bool GrowingOutputs::Grow(const Growth& growth) {
  const auto output = static_cast<size_t>(growth.sample);
  const bool goes_on = texts_[output].Grow(continuation_->Decode(growth.ids), options_.stop);
  SendNewText(output, /*ended=*/false);
  return goes_on;
}

std::vector<Generation> GrowingOutputs::End(std::vector<SearchResult> results) {
  std::vector<Generation> outputs;
  texts_.resize(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    SearchResult& result = results[i];
    outputs.push_back({.ids = std::move(result.ids),
                       .token_log_probabilities = std::move(result.token_log_probabilities),
                       .log_probability = result.log_probability,
                       .ending = result.finished ? Ending::kText : Ending::kLength});
    if (!continuation_) continue;
    if (!texts_[i].Grow(continuation_->Decode(outputs[i].ids), options_.stop)) {
      outputs[i].ending = Ending::kStop;
    }
    SendNewText(i, /*ended=*/true);
    outputs[i].text = texts_[i].text();
  }
  return outputs;
}

void GrowingOutputs::SendNewText(size_t output, bool ended) {
  if (!show_) return;
  std::string piece = texts_[output].Show(options_.stop, ended);
  if (!piece.empty()) show_(static_cast<int64_t>(output), std::move(piece));
}

}  // namespace attend
