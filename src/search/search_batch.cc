#include "search/search_batch.h"

#include <algorithm>

namespace attend {

SearchBatch::SearchBatch(const SearchOptions& options, SearchQueue* queue, Stepper* stepper,
                         int worker)
    : options_(options), queue_(queue), stepper_(stepper), load_{.worker = worker} {}

void SearchBatch::Admit() {
  while (const SearchInput* input = queue_->Next(load_)) {
    joining_.push_back({TakePlace(), input->source, input->once});
    searches_[joining_.back().place].Start(input, &options_);
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
    queue_->Failed(searches_[place].input(), error);
  }
  live_.clear();
}

int64_t SearchBatch::TakePlace() {
  if (free_.empty()) {
    free_.push_back(std::ssize(searches_));
    searches_.emplace_back();
  }
  const int64_t place = free_.back();
  free_.pop_back();
  return place;
}

void SearchBatch::Leave(int64_t place) {
  --load_.sentences;
  load_.tokens -= searches_[place].input().tokens();
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
  rows_.clear();
  for (const int64_t place : live_) {
    k = std::max(k, searches_[place].candidates());
    searches_[place].AddRows(place * options_.max_beam_size, &rows_);
  }
  best_.assign(rows_.size() * k, Candidate{});
  stepper_->Step(rows_, k, best_.data());
  const Candidate* best = best_.data();
  for (const int64_t place : live_) {
    SentenceSearch& search = searches_[place];
    const Candidate* candidates = best;
    best += search.live() * k;
    stepper_->Reorder(place, search.Advance(candidates, k));
  }
  std::erase_if(live_, [&](int64_t place) {
    if (!searches_[place].done()) return false;
    Finish(place);
    return true;
  });
}

// The sentence is no longer live, so an exception fails it alone. A second search keeps its place.
void SearchBatch::Finish(int64_t place) {
  SentenceSearch& search = searches_[place];
  if (search.WantsConstraints()) {
    const SearchInput* input = &search.input();
    search.Start(input, &options_, /*constrained=*/true);
    joining_.push_back({place, input->source, input->once});
    ++load_.joining;
    return;
  }
  Leave(place);
  try {
    queue_->Done(search.input(), search.Results());
  } catch (const std::exception&) {
    queue_->Failed(search.input(), std::current_exception());
  }
}

void SearchBatch::DropUnwanted() {
  std::erase_if(live_, [&](int64_t place) {
    const SearchInput& input = searches_[place].input();
    if (queue_->Wanted(input)) return false;
    stepper_->Reorder(place, {});
    Leave(place);
    queue_->Dropped(input);
    return true;
  });
}

}  // namespace attend
