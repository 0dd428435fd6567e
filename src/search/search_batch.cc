#include "search/search_batch.h"

#include <algorithm>
#include <utility>

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

// The first search knows nothing of terms: it is that of an input without them.
NewSentence SentenceOf(const SearchInput& input, int64_t index, bool constrained) {
  NewSentence sentence{index, input.source, input.once, input.numbers};
  if (constrained && input.terms != nullptr) sentence.wanted = input.terms->Tokens();
  return sentence;
}

}  // namespace

SearchBatch::SearchBatch(const SearchOptions& options, SearchQueue* queue, Stepper* stepper,
                         int worker)
    : options_(options), queue_(queue), stepper_(stepper), load_{.worker = worker} {}

void SearchBatch::Admit() {
  while (const SearchInput* input = queue_->Next(load_)) {
    joining_.push_back(SentenceOf(*input, TakeIndex(), /*constrained=*/false));
    ActiveInput& active = inputs_[joining_.back().index];
    active.input = input;
    ++load_.sentences;
    ++load_.joining;
    load_.tokens += input->tokens();
    StartSearch(&active, /*constrained=*/false);  // if it throws, Fail finds the item counted
  }
}

void SearchBatch::Step() {
  if (!joining_.empty()) Begin();
  if (live_.empty()) return;
  Advance();
  DropUnwanted();
}

void SearchBatch::Fail(const std::exception_ptr& error) {
  for (const NewSentence& sentence : joining_) live_.push_back(sentence.index);
  joining_.clear();
  load_.joining = 0;
  for (const int64_t index : live_) {
    Leave(index);
    queue_->Failed(*inputs_[index].input, error);
  }
  live_.clear();
}

int64_t SearchBatch::TakeIndex() {
  if (free_.empty()) {
    free_.push_back(std::ssize(inputs_));
    inputs_.emplace_back();
  }
  const int64_t index = free_.back();
  free_.pop_back();
  return index;
}

void SearchBatch::StartSearch(ActiveInput* active, bool constrained) {
  if (active->input->sample) {
    active->sample.Start(active->input, &options_, queue_);
    active->search = &active->sample;
  } else if (active->input->options.groups > 1 && !constrained) {
    active->diverse.Start(active->input, &options_);
    active->search = &active->diverse;
  } else {
    active->beam.Start(active->input, &options_, constrained);
    active->search = &active->beam;
  }
}

void SearchBatch::Leave(int64_t index) {
  --load_.sentences;
  load_.tokens -= inputs_[index].input->tokens();
  free_.push_back(index);
}

void SearchBatch::Begin() {
  if (live_.empty()) stepper_->Reset(options_.max_beam_size);
  stepper_->Start(joining_);
  for (const NewSentence& sentence : joining_) live_.push_back(sentence.index);
  joining_.clear();
  load_.joining = 0;
}

void SearchBatch::Advance() {
  int64_t k = 1;  // of the widest; more than it needs changes nothing for an item
  int64_t asking = 0;
  rows_.clear();
  asking_.clear();
  for (const int64_t index : live_) {
    ItemSearch& search = *inputs_[index].search;
    k = std::max(k, search.candidates());
    asking_.push_back(search.AddRows(index * options_.max_beam_size, &rows_));
    asking += asking_.back();
  }
  best_.assign(asking * k, Candidate{});
  stepper_->Step(rows_, k, best_.data());
  const Candidate* best = best_.data();
  for (size_t i = 0; i < live_.size(); ++i) {
    stepper_->Reorder(live_[i], inputs_[live_[i]].search->Advance(best, k));
    best += asking_[i] * k;
  }
  std::erase_if(live_, [&](int64_t index) {
    if (!inputs_[index].search->done()) return false;
    Finish(index);
    return true;
  });
}

bool SearchBatch::StartAgain(int64_t index) {
  if (!inputs_[index].search->WantsConstraints()) return false;
  StartSearch(&inputs_[index], /*constrained=*/true);
  joining_.push_back(SentenceOf(*inputs_[index].input, index, /*constrained=*/true));
  ++load_.joining;
  return true;
}

// The item is no longer live, so an exception fails it alone.
void SearchBatch::Finish(int64_t index) {
  const SearchInput* input = inputs_[index].input;
  bool left = false;
  try {
    if (StartAgain(index)) return;
    left = true;
    Leave(index);
    queue_->Done(*input, inputs_[index].search->Results());
  } catch (const std::exception&) {
    if (!left) Leave(index);
    queue_->Failed(*input, std::current_exception());
  }
}

void SearchBatch::DropUnwanted() {
  std::erase_if(live_, [&](int64_t index) {
    const SearchInput& input = *inputs_[index].input;
    if (queue_->Wanted(input)) return false;
    stepper_->Reorder(index, {});
    Leave(index);
    queue_->Dropped(input);
    return true;
  });
}

bool SearchRoom::Takes(const SearchLoad& load, int64_t more_tokens) const {
  if (load.sentences == 0) return true;
  if (load.joining == 0 && (load.sentences > sentences * 3 / 4 || load.tokens > tokens / 4 * 3)) {
    return false;
  }
  return load.sentences < sentences && load.tokens + more_tokens <= tokens;
}

void SearchQueued(const SearchOptions& options, SearchQueue* queue, Stepper* stepper) {
  SearchBatch batch(options, queue, stepper, 0);
  while (true) {
    batch.Admit();
    if (batch.size() == 0) return;
    batch.Step();
  }
}

std::vector<std::vector<SearchResult>> SearchAll(std::span<const SearchInput> inputs,
                                                 const SearchOptions& options, Stepper* stepper,
                                                 const SearchRoom& room) {
  ListQueue queue(inputs, room);
  SearchQueued(options, &queue, stepper);
  return queue.Take();
}

}  // namespace attend
