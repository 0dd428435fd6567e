// What is searched, with what options, and where inputs wait and results go.
#ifndef ATTEND_SEARCH_SEARCH_H_
#define ATTEND_SEARCH_SEARCH_H_

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "search/output_rules.h"
#include "search/sampling.h"
#include "search/wanted_terms.h"

namespace attend {

// How one item, a sentence or a prompt, is searched.
struct SentenceOptions {
  int64_t beam_size = 4;        // at most the search's
  int64_t n_best = 1;           // at most beam_size
  double length_penalty = 0.6;  // alpha, at least 0
  int64_t min_length = 0;       // least number of visible tokens before eos
  bool must_show = false;       // an output needs at least one visible token
  bool allow_unknown = false;   // the output may contain unk
  bool scores = true;           // false: a greedy search leaves them 0
  // As many hypotheses as the beam has do not end the search by their ends while the best live one
  // has a better score so far. Where few tokens may come, eos is always among the best.
  bool leader_goes_on = false;
  // So many tokens in a row occur at most once in an output; 0: anything may be repeated.
  int64_t no_repeat_ngram = 0;
  // At least 1: log-probabilities of tokens that the output has already are multiplied by it (after
  // Keskar et al. 2019, section 4.1).
  double repetition_penalty = 1;
  // Above 1: that many groups share the beam, and each avoids the tokens that those before it take
  // in the same step (diverse beam search); a divisor of beam_size.
  int64_t groups = 1;
  double diversity = 0.5;  // what such a token costs, in log-probability, for each time it is taken
  // Above 0: what is added to the score is this much times the sum, over the source's tokens, of
  // log min(1, all that the output's steps have looked at the token) (Wu et al. 2016, section 7).
  double coverage_penalty = 0;
  // Above 0: a continuation that is less probable than the best one of its step, by more than so
  // much log-probability, is dropped (Freitag and Al-Onaizan 2017, absolute threshold pruning).
  double beam_threshold = 0;
  // Above 0: the search ends once each of the n best is finished and at least so many times as
  // probable as every live hypothesis, where penalties of coverage and repeated tokens count as
  // lost probability. What lives only loses.
  double early_exit = 0;
  bool early_stop = true;  // false only in tests: results must not change
};

// Outputs that are drawn, or found by greedy steps, in place of a beam search's.
struct SampleOptions {
  SamplingOptions sampling;
  int64_t count = 1;  // outputs; at most the search's max_beam_size
  uint64_t seed = 1;
};

struct SearchOptions {
  int64_t max_beam_size = 4;  // at least ConstrainedBeamSize of every input
  // What the decoder reads before an output, for inputs that have none of their own; not empty.
  std::vector<int32_t> prompt = {2};
  int32_t eos = 3;
  // By id: 1 if the token is invisible (white space). Ids past the end are visible.
  std::span<const uint8_t> blank = {};
  std::function<std::string(std::span<const int32_t> ids)> text_of;  // empty: unknown
  // Ids of a source that begin and end it beside its text: coverage does not count them.
  int64_t source_begin = 0, source_end = 0;
  std::vector<int32_t> placeholders;  // tokens that outputs may contain only if `once` has them
  std::vector<int32_t> never;         // of these, the ones that no output has
};

// A short item counts as this many: what is written for it takes memory too.
constexpr int64_t kLeastSourceTokens = 16;

// Of a search for terms, beside a place for each of their tokens. With fewer an output that has its
// terms may never come to an end.
constexpr int64_t kLeastBeamWithTerms = 4;

struct SearchInput {
  std::vector<int32_t> source;  // as the encoder reads it
  std::vector<int32_t> prefix;  // the output begins with these
  std::vector<int32_t> once;    // placeholders that each result needs exactly once; at most 63
  int64_t max_length = 0;       // tokens of output, the closing eos included; above 0
  SentenceOptions options;
  std::vector<int32_t> prompt;  // in place of SearchOptions::prompt; empty: that one
  // If given: outputs are by these rules; prefix and `once` must be empty, and there is no
  // `sample`.
  std::shared_ptr<const OutputRules> rules;
  // If given: terms that each result needs; there are no `rules`, and no `sample`.
  std::shared_ptr<const WantedTerms> terms = nullptr;

  std::span<const int32_t> PromptOr(const std::vector<int32_t>& usual) const {
    return prompt.empty() ? usual : prompt;
  }
  // If given: outputs are drawn, of at most max_length tokens without eos. Of `options`, min_length
  // (in tokens) and allow_unknown count; prefix and `once` must be empty.
  std::optional<SampleOptions> sample;
  // In place of `source`, where the encoder reads numbers, and how many rows it makes of them.
  std::vector<float> numbers = {};
  int64_t number_rows = 0;

  // What it counts for in SearchRoom::tokens: what it reads, and after a prompt all that it may
  // write, for the cache keeps both. With terms it counts as often as their beam is wider.
  int64_t tokens() const {
    const int64_t outputs = sample ? sample->count : prompt.empty() ? 0 : options.beam_size;
    const int64_t count =
        std::max(kLeastSourceTokens,
                 std::ssize(source) + number_rows + std::ssize(prompt) + outputs * max_length);
    if (terms == nullptr) return count;
    const int64_t beam = std::max(options.beam_size, kLeastBeamWithTerms) + terms->TokensLeft();
    return count * beam / options.beam_size;
  }
};

struct SearchResult {
  std::vector<int32_t> ids;  // without bos and eos
  double score = 0;          // penalised
  double log_probability = 0;
  bool finished = false;     // ended by eos
  bool constrained = false;  // by the second search
  int64_t missing = 0;       // of the input's terms
  // Of a drawn output: of each of ids, and of the closing eos.
  std::vector<double> token_log_probabilities = {};
};

// A drawn output so far.
struct Growth {
  int64_t sample = 0;
  std::span<const int32_t> ids;  // the last one is new
  std::span<const double> token_log_probabilities;
};

// The items that a thread searches now: sentences or prompts.
struct SearchLoad {
  int worker = 0;  // the thread's number
  int64_t sentences = 0, tokens = 0;
  int64_t joining = 0;  // items among these that have not begun
};

// Limits on a thread's items; one item is always allowed.
struct SearchRoom {
  int64_t sentences = 1024;
  int64_t tokens = std::numeric_limits<int64_t>::max();

  // Items join a quarter of the room at a time, so that matrix products stay large.
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
  // Called for each drawn output after each token. false: the output ends with it.
  virtual bool Grew(const SearchInput&, const Growth&) { return true; }
  virtual void Failed(const SearchInput&, const std::exception_ptr&) {}
};

}  // namespace attend

#endif  // ATTEND_SEARCH_SEARCH_H_
