// Beam search with the length penalty of Wu et al. 2016 that the paper uses (section 6.1):
// score = log P / ((5 + length) / 6)^alpha, length counting the closing eos.
//
// Each step takes a sentence's 2B best continuations (B the beam size). Those of the first B that
// end the sentence finish; the B best others live on. A sentence is done when B hypotheses have
// finished, when no live hypothesis can still enter the n best, or at the maximum length. There the
// live ones count with their present score, ranked after all finished ones. Ties break by (score,
// beam, id). If several hypotheses are wanted and texts are known, only the best of equal texts is
// kept. All of them count towards the B that finish, so the best result does not depend on
// n_best.
//
// Placeholders must occur exactly once (`once`). The first search only counts them. If a result
// lacks one, repeats one or has a foreign one, the sentence is searched again with constraints, by
// dynamic beam allocation (Post and Vilar 2018): a hypothesis takes no placeholder that is foreign
// or already there, and does not end before it has all. The beam is divided into banks by how many
// a hypothesis has, so that one with more need not beat one with fewer.
#ifndef ATTEND_SEARCH_BEAM_SEARCH_H_
#define ATTEND_SEARCH_BEAM_SEARCH_H_

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "search/stepper.h"

namespace attend {

// How one sentence is searched.
struct SentenceOptions {
  int64_t beam_size = 4;        // at most the search's
  int64_t n_best = 1;           // at most beam_size
  double length_penalty = 0.6;  // alpha, at least 0
  int64_t min_length = 0;       // least number of visible tokens before eos
  bool must_show = false;       // an output needs at least one visible token
  bool allow_unknown = false;   // the output may contain unk
  bool scores = true;           // false: a greedy search leaves them 0
  bool early_stop = true;       // false only in tests: results must not change
};

struct SearchOptions {
  int64_t max_beam_size = 4;  // at least ConstrainedBeamSize of every input
  int32_t bos = 2;
  int32_t eos = 3;
  // By id: 1 if the token is invisible (white space). Ids past the end are visible.
  std::span<const uint8_t> blank = {};
  std::function<std::string(std::span<const int32_t> ids)> text_of;  // empty: unknown
  std::vector<int32_t> placeholders;  // tokens that outputs may contain only if `once` has them
};

// A short sentence counts as this many: its output takes memory too.
constexpr int64_t kLeastSourceTokens = 16;

struct SearchInput {
  std::vector<int32_t> source;  // as the encoder reads it
  std::vector<int32_t> prefix;  // the output begins with these
  std::vector<int32_t> once;    // placeholders that each result needs exactly once; at most 63
  int64_t max_length = 0;       // tokens of output, the closing eos included; above 0
  SentenceOptions options;

  // What it counts for in max_source_tokens.
  int64_t tokens() const { return std::max(kLeastSourceTokens, std::ssize(source)); }
};

struct SearchResult {
  std::vector<int32_t> ids;  // without bos and eos
  double score = 0;          // penalised
  double log_probability = 0;
  bool finished = false;     // ended by eos
  bool constrained = false;  // by the second search
};

// The sentences that a thread searches now.
struct SearchLoad {
  int worker = 0;  // the thread's number
  int64_t sentences = 0, tokens = 0;
  int64_t joining = 0;  // sentences among these that have not begun
};

// Limits on a thread's sentences; one sentence is always allowed.
struct SearchRoom {
  int64_t sentences = 1024;
  int64_t tokens = std::numeric_limits<int64_t>::max();

  // Sentences join a quarter of the room at a time, so that matrix products stay large.
  bool Takes(const SearchLoad& load, int64_t more_tokens) const;
};

// Where inputs wait and results go. The search keeps a pointer to an input from Next until Done,
// Dropped or Failed. If Done throws, the input fails.
class SearchQueue {
 public:
  virtual ~SearchQueue() = default;
  // Null: there is no input for a thread with this load.
  virtual const SearchInput* Next(const SearchLoad& load) = 0;
  // The n best, best first, with different texts if texts are known; fewer if the search found
  // fewer.
  virtual void Done(const SearchInput& input, std::vector<SearchResult> results) = 0;
  // Called for each live input after every step. false: it leaves without results.
  virtual bool Wanted(const SearchInput&) { return true; }
  virtual void Dropped(const SearchInput&) {}
  virtual void Failed(const SearchInput&, const std::exception_ptr&) {}
};

// Searches until the queue has no more.
void BeamSearch(const SearchOptions& options, SearchQueue* queue, Stepper* stepper);

// The results of each input, in order.
std::vector<std::vector<SearchResult>> BeamSearch(std::span<const SearchInput> inputs,
                                                  const SearchOptions& options, Stepper* stepper,
                                                  const SearchRoom& room = {});

// Beam size of a search with constraints: at least one place for each number of placeholders met.
int64_t ConstrainedBeamSize(const SearchInput& input);

// ((5 + length) / 6)^alpha
double LengthPenalty(int64_t length, double alpha);

}  // namespace attend

#endif  // ATTEND_SEARCH_BEAM_SEARCH_H_
