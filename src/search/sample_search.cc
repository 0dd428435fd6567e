#include "search/sample_search.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "search/scores.h"

namespace attend {

void SampleSearch::Start(const SearchInput* input, const SearchOptions* options,
                         SearchQueue* queue) {
  input_ = input;
  options_ = options;
  queue_ = queue;
  started_ = false;
  const SampleOptions& sample = *input->sample;
  const uint64_t key = DrawKey(sample.seed, input->prompt.empty() ? input->source : input->prompt);
  draws_.clear();
  outputs_.assign(sample.count, {});
  for (int64_t s = 0; s < sample.count; ++s) {
    draws_.push_back({.key = key, .sample = s, .step = 0});
    for (const int32_t id : input->prompt) Remember(id, &outputs_[s]);
  }
  live_.resize(sample.count);
  std::iota(live_.begin(), live_.end(), 0);
}

bool SampleSearch::NeedsOnlyBestToken() const {
  return input_->sample->sampling.greedy() && !input_->sample->sampling.penalises();
}

void SampleSearch::Remember(int32_t id, Output* output) const {
  if (!input_->sample->sampling.penalises()) return;
  const auto at = std::ranges::lower_bound(output->seen, id);
  if (at == output->seen.end() || *at != id) output->seen.insert(at, id);
}

void SampleSearch::FillRow(std::span<const Draw> draws, Output* output, StepRow* row) {
  row->may_end = std::ssize(output->result.ids) >= input_->options.min_length;
  row->may_be_unknown = input_->options.allow_unknown;
  row->never = options_->never;
  row->most = 1;  // whatever room the beams beside it ask for
  if (NeedsOnlyBestToken()) return;
  output->sampling = {&input_->sample->sampling, draws, output->seen};
  row->sampling = &output->sampling;
}

int64_t SampleSearch::AddRows(int64_t first_hypothesis, std::vector<StepRow>* rows) {
  const auto hypothesis = static_cast<int32_t>(first_hypothesis);
  if (!started_) {
    for (const int32_t token : input_->PromptOr(options_->prompt)) {
      rows->push_back({.hypothesis = hypothesis, .token = token, .asks = false});
    }
    rows->back().asks = true;
    FillRow(draws_, &outputs_[0], &rows->back());
    return 1;
  }
  for (size_t i = 0; i < live_.size(); ++i) {
    Output& output = outputs_[live_[i]];
    rows->push_back(
        {.hypothesis = hypothesis + static_cast<int32_t>(i), .token = output.result.ids.back()});
    FillRow({&draws_[live_[i]], 1}, &output, &rows->back());
  }
  return std::ssize(live_);
}

std::span<const int32_t> SampleSearch::Advance(const Candidate* best, int64_t k) {
  parents_.clear();
  size_t kept = 0;
  for (size_t i = 0; i < live_.size(); ++i) {
    const Candidate& drawn =
        started_ ? best[static_cast<int64_t>(i) * k] : best[NeedsOnlyBestToken() ? 0 : i];
    if (!Append(drawn, live_[i])) continue;
    parents_.push_back(started_ ? static_cast<int32_t>(i) : 0);
    live_[kept++] = live_[i];
  }
  live_.resize(kept);
  started_ = true;
  return parents_;
}

bool SampleSearch::Append(const Candidate& drawn, int64_t sample) {
  Output& output = outputs_[sample];
  SearchResult& result = output.result;
  ++draws_[sample].step;
  if (drawn.id < 0) return false;
  result.log_probability += drawn.log_probability;
  result.token_log_probabilities.push_back(drawn.log_probability);
  result.finished = drawn.id == options_->eos;
  if (result.finished) return false;
  result.ids.push_back(drawn.id);
  Remember(drawn.id, &output);
  const bool goes_on = queue_->Grew(*input_, {sample, result.ids, result.token_log_probabilities});
  return goes_on && std::ssize(result.ids) < input_->max_length;
}

std::vector<SearchResult> SampleSearch::Results() const {
  std::vector<SearchResult> results;
  for (const Output& output : outputs_) {
    SearchResult& result = results.emplace_back(output.result);
    const int64_t length = std::ssize(result.ids) + (result.finished ? 1 : 0);
    result.score = result.log_probability / LengthPenalty(length, input_->options.length_penalty);
  }
  return results;
}

}  // namespace attend
