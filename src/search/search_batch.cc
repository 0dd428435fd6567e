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

}  // namespace

SearchBatch::SearchBatch(const SearchOptions& options, SearchQueue* queue, Stepper* stepper,
                         int worker)
    : options_(options), queue_(queue), stepper_(stepper), load_{.worker = worker} {}

void SearchBatch::Admit() {
  while (const SearchInput* input = queue_->Next(load_)) {
    joining_.push_back({TakePlace(), input->source, input->once});
    Place& place = places_[joining_.back().place];
    place.input = input;
    StartSearch(&place, /*constrained=*/false);
    ++load_.sentences;
    ++load_.joining;
    load_.tokens += input->tokens();
  }
}

void SearchBatch::Step() {
  if (!joining_.empty()) Begin();
  if (live_.empty()) return;
  Advance();
  DropUnwanted();
}

void SearchBatch::Fail(const std::exception_ptr& error) {
  for (const NewSentence& sentence : joining_) live_.push_back(sentence.place);
  joining_.clear();
  for (const int64_t place : live_) {
    Leave(place);
    queue_->Failed(*places_[place].input, error);
  }
  live_.clear();
}

int64_t SearchBatch::TakePlace() {
  if (free_.empty()) {
    free_.push_back(std::ssize(places_));
    places_.emplace_back();
  }
  const int64_t place = free_.back();
  free_.pop_back();
  return place;
}

void SearchBatch::StartSearch(Place* place, bool constrained) {
  if (place->input->sample) {
    place->sample.Start(place->input, &options_, queue_);
    place->search = &place->sample;
  } else {
    place->beam.Start(place->input, &options_, constrained);
    place->search = &place->beam;
  }
}

void SearchBatch::Leave(int64_t place) {
  --load_.sentences;
  load_.tokens -= places_[place].input->tokens();
  free_.push_back(place);
}

void SearchBatch::Begin() {
  if (live_.empty()) stepper_->Reset(options_.max_beam_size);
  stepper_->Start(joining_);
  for (const NewSentence& sentence : joining_) live_.push_back(sentence.place);
  joining_.clear();
  load_.joining = 0;
}

void SearchBatch::Advance() {
  int64_t k = 1;  // of the widest; more than it needs changes nothing for a sentence
  int64_t asking = 0;
  rows_.clear();
  asking_.clear();
  for (const int64_t place : live_) {
    ItemSearch& search = *places_[place].search;
    k = std::max(k, search.candidates());
    asking_.push_back(search.AddRows(place * options_.max_beam_size, &rows_));
    asking += asking_.back();
  }
  best_.assign(asking * k, Candidate{});
  stepper_->Step(rows_, k, best_.data());
  const Candidate* best = best_.data();
  for (size_t i = 0; i < live_.size(); ++i) {
    stepper_->Reorder(live_[i], places_[live_[i]].search->Advance(best, k));
    best += asking_[i] * k;
  }
  std::erase_if(live_, [&](int64_t place) {
    if (!places_[place].search->done()) return false;
    Finish(place);
    return true;
  });
}

// The sentence is no longer live, so an exception fails it alone. A second search keeps its place.
void SearchBatch::Finish(int64_t place) {
  const SearchInput* input = places_[place].input;
  const ItemSearch& search = *places_[place].search;
  if (search.WantsConstraints()) {
    StartSearch(&places_[place], /*constrained=*/true);
    joining_.push_back({place, input->source, input->once});
    ++load_.joining;
    return;
  }
  Leave(place);
  try {
    queue_->Done(*input, search.Results());
  } catch (const std::exception&) {
    queue_->Failed(*input, std::current_exception());
  }
}

void SearchBatch::DropUnwanted() {
  std::erase_if(live_, [&](int64_t place) {
    const SearchInput& input = *places_[place].input;
    if (queue_->Wanted(input)) return false;
    stepper_->Reorder(place, {});
    Leave(place);
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
