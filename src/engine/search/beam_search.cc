#include "engine/search/beam_search.h"

#include <algorithm>
#include <cmath>

#include "engine/search/sentence_search.h"

namespace attend {
namespace {

// All sentences of one thread: which place each has, and who joins next.
class Batch {
 public:
  Batch(const SearchOptions& options, SearchQueue* queue, Stepper* stepper)
      : options_(options), queue_(queue), stepper_(stepper) {
    stepper_->Reset(options_.max_sentences, options_.max_beam_size);
  }

  void Run() {
    while (Admit()) {
      Step();
      DropUnwanted();
    }
  }

 private:
  bool Fits(const SearchInput& input) const {
    if (live_.empty() && joining_.empty()) return true;
    return std::ssize(live_) + std::ssize(joining_) < options_.max_sentences &&
           live_tokens_ + input.tokens() <= options_.max_source_tokens;
  }

  bool HasRoom() const {
    return std::ssize(live_) <= options_.max_sentences * 3 / 4 &&
           live_tokens_ <= options_.max_source_tokens / 4 * 3;
  }

  // False when nothing is live and nothing waits.
  bool Admit() {
    if (!live_.empty() && !HasRoom()) return true;
    joining_.clear();
    while (true) {
      if (waiting_ == nullptr) waiting_ = queue_->Next();
      if (waiting_ == nullptr || !Fits(*waiting_)) break;
      joining_.push_back({TakePlace(), waiting_->source});
      searches_[joining_.back().place].Start(waiting_, &options_);
      live_tokens_ += waiting_->tokens();
      waiting_ = nullptr;
    }
    if (joining_.empty()) return !live_.empty();
    for (const NewSentence& sentence : joining_) live_.push_back(sentence.place);
    stepper_->Start(joining_);
    joining_.clear();
    return true;
  }

  int64_t TakePlace() {
    if (free_.empty()) {
      free_.push_back(std::ssize(searches_));
      searches_.emplace_back();
    }
    const int64_t place = free_.back();
    free_.pop_back();
    return place;
  }

  void Step() {
    int64_t k = 1;  // of the widest; more than it needs changes nothing for a sentence
    rows_.clear();
    for (const int64_t place : live_) {
      const int64_t beam_size = searches_[place].input().options.beam_size;
      if (beam_size > 1) k = std::max(k, 2 * beam_size);
      searches_[place].AddRows(place * options_.max_beam_size, &rows_);
    }
    best_.assign(rows_.size() * k, Candidate{});
    stepper_->Step(rows_, k, best_.data());
    const Candidate* best = best_.data();
    size_t kept = 0;
    for (const int64_t place : live_) {
      SentenceSearch& search = searches_[place];
      const Candidate* candidates = best;
      best += search.live() * k;
      stepper_->Reorder(place, search.Advance(candidates, k));
      if (search.done()) {
        Finish(place);
      } else {
        live_[kept++] = place;
      }
    }
    live_.resize(kept);
  }

  void Finish(int64_t place) {
    Leave(place);
    queue_->Done(searches_[place].input(), searches_[place].Results());
  }

  void Leave(int64_t place) {
    live_tokens_ -= searches_[place].input().tokens();
    free_.push_back(place);
  }

  void DropUnwanted() {
    std::erase_if(live_, [&](int64_t place) {
      const SearchInput& input = searches_[place].input();
      if (queue_->Wanted(input)) return false;
      stepper_->Reorder(place, {});
      Leave(place);
      queue_->Dropped(input);
      return true;
    });
  }

  const SearchOptions& options_;
  SearchQueue* queue_;
  Stepper* stepper_;
  const SearchInput* waiting_ = nullptr;
  std::vector<SentenceSearch> searches_;  // by place
  std::vector<int64_t> live_, free_;      // places
  std::vector<NewSentence> joining_;
  int64_t live_tokens_ = 0;
  std::vector<StepRow> rows_;
  std::vector<Candidate> best_;
};

class ListQueue : public SearchQueue {
 public:
  explicit ListQueue(std::span<const SearchInput> inputs)
      : inputs_(inputs), results_(inputs.size()) {}
  const SearchInput* Next() override {
    return next_ < inputs_.size() ? &inputs_[next_++] : nullptr;
  }
  void Done(const SearchInput& input, std::vector<SearchResult> results) override {
    results_[&input - inputs_.data()] = std::move(results);
  }
  std::vector<std::vector<SearchResult>> Take() { return std::move(results_); }

 private:
  std::span<const SearchInput> inputs_;
  size_t next_ = 0;
  std::vector<std::vector<SearchResult>> results_;
};

}  // namespace

double LengthPenalty(int64_t length, double alpha) {
  return std::pow((5.0 + static_cast<double>(length)) / 6.0, alpha);
}

void BeamSearch(const SearchOptions& options, SearchQueue* queue, Stepper* stepper) {
  Batch(options, queue, stepper).Run();
}

std::vector<std::vector<SearchResult>> BeamSearch(std::span<const SearchInput> inputs,
                                                  const SearchOptions& options, Stepper* stepper) {
  ListQueue queue(inputs);
  BeamSearch(options, &queue, stepper);
  return queue.Take();
}

}  // namespace attend
