// Outputs of one prompt that are drawn token by token, or are the likeliest token each time.
#ifndef ATTEND_SEARCH_SAMPLE_SEARCH_H_
#define ATTEND_SEARCH_SAMPLE_SEARCH_H_

#include <cstdint>
#include <span>
#include <vector>

#include "search/item_search.h"

namespace attend {

// The prompt is read once for all outputs. Used for one input after another. One owner.
class SampleSearch : public ItemSearch {
 public:
  void Start(const SearchInput* input, const SearchOptions* options, SearchQueue* queue);
  bool done() const override { return live_.empty(); }
  int64_t AddRows(int64_t first_hypothesis, std::vector<StepRow>* rows) override;
  int64_t candidates() const override { return started_ ? 1 : std::ssize(outputs_); }
  std::span<const int32_t> Advance(const Candidate* best, int64_t k) override;
  // In the order of their numbers.
  std::vector<SearchResult> Results() const override;

 private:
  struct Output {
    SearchResult result;
    std::vector<int32_t> seen;  // rising; where repetition is penalised
    Sampling sampling;
  };

  // Of each step: of a greedy output without penalties.
  bool NeedsOnlyBestToken() const;
  void FillRow(std::span<const Draw> draws, Output* output, StepRow* row);
  // Returns false where the output ends.
  bool Append(const Candidate& drawn, int64_t sample);
  void Remember(int32_t id, Output* output) const;

  const SearchInput* input_ = nullptr;
  const SearchOptions* options_ = nullptr;
  SearchQueue* queue_ = nullptr;
  std::vector<Draw> draws_;  // of each output's next token
  std::vector<Output> outputs_;
  std::vector<int32_t> live_;  // those that go on
  std::vector<int32_t> parents_;
  bool started_ = false;  // the prompt is read
};

}  // namespace attend

#endif  // ATTEND_SEARCH_SAMPLE_SEARCH_H_
