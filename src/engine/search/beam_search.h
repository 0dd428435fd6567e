// Beam search with the length penalty of Wu et al. 2016 that the paper uses (section 6.1):
// score = log P / ((5 + length) / 6)^alpha, length counting the closing eos.
//
// Each step takes a sentence's 2B best continuations (B the beam size). Those of the first B that
// end the sentence finish; the B best others live on. A sentence is done when B hypotheses have
// finished, when nothing live can still enter its n best, or at its greatest length, where what
// still lives counts as it is but stands behind all that finished. Ties break by (score, beam, id).
// Of hypotheses with one text the best stands for all, where texts are known and several are
// wanted; each counts among the B that finish, so that the best does not depend on how many are
// wanted.
//
// Tokens that are to stand exactly once (`once`) are only counted at first. Where a result lacks
// one, has one twice or has another placeholder, the sentence is searched again with constraints,
// as by dynamic beam allocation (Post and Vilar 2018): no placeholder comes that was there or is
// not the source's, none ends that lacks one, and places in the beam are shared out by how many of
// them hypotheses have, so that what has more need not be likelier than what has fewer.
#ifndef ATTEND_ENGINE_SEARCH_BEAM_SEARCH_H_
#define ATTEND_ENGINE_SEARCH_BEAM_SEARCH_H_

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "engine/search/stepper.h"

namespace attend {

// How one sentence is searched.
struct SentenceOptions {
  int64_t beam_size = 4;        // at most the search's
  int64_t n_best = 1;           // at most beam_size
  double length_penalty = 0.6;  // alpha, at least 0
  int64_t min_length = 0;       // tokens that show and stand before eos at least
  bool must_show = false;       // an output without a token that shows is none
  bool allow_unknown = false;   // unk may stand in the output
  bool scores = true;           // false: of a greedy search they are 0
  bool early_stop = true;       // false only tests that it changes nothing
};

struct SearchOptions {
  int64_t max_beam_size = 4;  // ConstrainedBeamSize's too
  int32_t bos = 2;
  int32_t eos = 3;
  // By id: 1 where the token shows nothing (white space); what lies beyond shows something.
  std::span<const uint8_t> blank = {};
  std::function<std::string(std::span<const int32_t> ids)> text_of;  // empty: not known
  std::vector<int32_t> placeholders;  // tokens that stand in outputs only where `once` has them
};

// Short sentences too have an output, whose rows take memory.
constexpr int64_t kLeastSourceTokens = 16;

struct SearchInput {
  std::vector<int32_t> source;  // as the encoder reads it
  std::vector<int32_t> prefix;  // the output begins with these
  std::vector<int32_t> once;    // placeholders that each result has exactly once; 63 at most
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

// What a thread's search holds.
struct SearchLoad {
  int worker = 0;  // the thread's number
  int64_t sentences = 0, tokens = 0;
  int64_t joining = 0;  // of the sentences, those that have not begun
};

// What a search may hold; one sentence always.
struct SearchRoom {
  int64_t sentences = 1024;
  int64_t tokens = std::numeric_limits<int64_t>::max();

  // A quarter of the room joins at a time, so that products stay large.
  bool Takes(const SearchLoad& load, int64_t more_tokens) const;
};

// Where inputs wait and results go. The search holds on to an input from Next to Done, Dropped or
// Failed; where Done throws, the input fails.
class SearchQueue {
 public:
  virtual ~SearchQueue() = default;
  // Null: none for a thread that holds so much.
  virtual const SearchInput* Next(const SearchLoad& load) = 0;
  // The n best, the best first, of different texts where those are known; fewer where the search
  // found fewer.
  virtual void Done(const SearchInput& input, std::vector<SearchResult> results) = 0;
  // Asked of each live input after every step: false, and it leaves without results.
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

// Of the search with constraints: a place for each number of them at least.
int64_t ConstrainedBeamSize(const SearchInput& input);

// ((5 + length) / 6)^alpha
double LengthPenalty(int64_t length, double alpha);

}  // namespace attend

#endif  // ATTEND_ENGINE_SEARCH_BEAM_SEARCH_H_
