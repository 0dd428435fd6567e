#include "search/beam_search.h"

#include <cmath>
#include <utility>

#include "search/search_batch.h"

namespace attend {
namespace {

class ListQueue : public SearchQueue {
 public:
  ListQueue(std::span<const SearchInput> inputs, const SearchRoom& room)
      : inputs_(inputs), room_(room), results_(inputs.size()) {}
  const SearchInput* Next(const SearchLoad& load) override {
    if (next_ == inputs_.size() || !room_.Takes(load, inputs_[next_].tokens())) return nullptr;
    return &inputs_[next_++];
  }
  void Done(const SearchInput& input, std::vector<SearchResult> results) override {
    results_[&input - inputs_.data()] = std::move(results);
  }
  std::vector<std::vector<SearchResult>> Take() { return std::move(results_); }

 private:
  std::span<const SearchInput> inputs_;
  const SearchRoom room_;
  size_t next_ = 0;
  std::vector<std::vector<SearchResult>> results_;
};

}  // namespace

int64_t ConstrainedBeamSize(const SearchInput& input) {
  return std::max(input.options.beam_size, std::ssize(input.once) + 1);
}

double LengthPenalty(int64_t length, double alpha) {
  return std::pow((5.0 + static_cast<double>(length)) / 6.0, alpha);
}

bool SearchRoom::Takes(const SearchLoad& load, int64_t more_tokens) const {
  if (load.sentences == 0) return true;
  if (load.joining == 0 && (load.sentences > sentences * 3 / 4 || load.tokens > tokens / 4 * 3)) {
    return false;
  }
  return load.sentences < sentences && load.tokens + more_tokens <= tokens;
}

void BeamSearch(const SearchOptions& options, SearchQueue* queue, Stepper* stepper) {
  SearchBatch batch(options, queue, stepper, 0);
  while (true) {
    batch.Admit();
    if (batch.size() == 0) return;
    batch.Step();
  }
}

std::vector<std::vector<SearchResult>> BeamSearch(std::span<const SearchInput> inputs,
                                                  const SearchOptions& options, Stepper* stepper,
                                                  const SearchRoom& room) {
  ListQueue queue(inputs, room);
  BeamSearch(options, &queue, stepper);
  return queue.Take();
}

}  // namespace attend
