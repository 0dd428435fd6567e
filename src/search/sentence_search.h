// The beam search of one sentence; see beam_search.h for the rules.
#ifndef ATTEND_SEARCH_SENTENCE_SEARCH_H_
#define ATTEND_SEARCH_SENTENCE_SEARCH_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "search/beam_search.h"

namespace attend {

// One place, used for one sentence after another; keeps its memory. One owner.
class SentenceSearch {
 public:
  // `constrained`: the second search of the input.
  void Start(const SearchInput* input, const SearchOptions* options, bool constrained = false);
  // A sentence is done when nothing of it is live.
  bool done() const { return live_.empty(); }
  const SearchInput& input() const { return *input_; }

  // One row for each live hypothesis, in order.
  void AddRows(int64_t first_slot, std::vector<StepRow>* rows) const;
  // Takes the k candidates of each live hypothesis. Returns the parent of each that lives on; none:
  // the sentence is done.
  std::span<const int32_t> Advance(const Candidate* best, int64_t k);
  int64_t live() const { return std::ssize(live_); }
  int64_t beam_size() const { return beam_size_; }
  // Candidates that each row needs.
  int64_t candidates() const;

  std::vector<SearchResult> Results() const;
  // Done, with a result that a second search would better.
  bool WantsConstraints() const;

 private:
  // Outputs form a tree; a hypothesis is the node it ends in.
  struct Node {
    int32_t id;
    int32_t parent;
  };
  struct Live {
    int32_t node;  // -1: still empty
    double log_probability;
    int64_t shown = 0;  // tokens that show something
    uint64_t met = 0;   // of `once`, a bit each; of a constrained search
  };
  struct Expansion {
    double log_probability;
    int32_t beam;
    int32_t id;
    uint64_t met = 0;
    bool operator<(const Expansion& other) const;
  };
  struct Kept {
    int32_t node;
    double score;
    double log_probability;
    bool finished;
    std::string text;  // where it is known and wanted
  };

  bool Shows(int32_t id) const {
    return id >= std::ssize(options_->blank) || options_->blank[id] == 0;
  }
  std::vector<int32_t> IdsOf(int32_t node) const;
  bool Finishes(const Expansion& expansion) const;
  bool MayEnd(const Live& hypothesis) const;
  void ExpandConstrained(const Candidate* best, int64_t k);
  void GoOn(const Expansion& expansion);
  void Choose();
  void ChooseFromBanks();
  void Keep(const Live& hypothesis, int64_t length, bool finished);
  bool NothingCanWin() const;
  bool Ended() const;
  void Close();

  const SearchInput* input_ = nullptr;
  const SearchOptions* options_ = nullptr;
  bool constrained_ = false;
  int64_t beam_size_ = 1;
  std::vector<Node> nodes_;
  std::vector<Live> live_, next_;
  std::vector<Expansion> expansions_;
  std::vector<int32_t> parents_;
  std::vector<Kept> kept_;  // of different texts; finished first, the best first
  int64_t finished_ = 0;    // all of them
  int64_t length_ = 0;
};

}  // namespace attend

#endif  // ATTEND_SEARCH_SENTENCE_SEARCH_H_
