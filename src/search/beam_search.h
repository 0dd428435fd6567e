// Beam search with the length penalty of Wu et al. 2016 that the paper uses (section 6.1):
// score = log P / ((5 + length) / 6)^alpha, length counting the closing eos.
//
// Each step takes a sentence's 2B best continuations (B the beam size). Those of the first B that
// end the sentence finish; the B best others live on. A sentence is done when B hypotheses have
// finished (with leader_goes_on, and no live one is better so far), when no live hypothesis can
// still enter the n best, or at the maximum length. There the live ones count with their present
// score, ranked after all finished ones. Ties break by (score, beam, id). If several hypotheses are
// wanted and texts are known, only the best of equal texts is kept. All of them count towards the B
// that finish, so the best result does not depend on n_best.
//
// Placeholders must occur exactly once (`once`). The first search only counts them. If a result
// lacks one, repeats one or has a foreign one, the sentence is searched again with constraints, by
// dynamic beam allocation (Post and Vilar 2018): a hypothesis takes no placeholder that is foreign
// or already there, and does not end before it has all. The beam is divided into banks by how many
// a hypothesis has, so that one with more need not beat one with fewer.
//
// With a coverage penalty, the step that writes a token tells how much it looks at each token of
// the source. It counts when an output ends; log-probabilities alone decide what lives on. A
// threshold drops continuations that are far behind the best one of their step, but in the second
// search.
//
// Terms must occur, too (`terms`), and are searched for in the same way. Banks then go by how many
// tokens the terms still need, and the beam, of 4 at least, has a place more for each of them; a
// hypothesis is asked for the tokens that its missing terms begin or go on with, besides the best
// (vectorised by Hu et al. 2019). A hypothesis may end without all terms, but is behind those that
// have more, so where no output within the maximum length has all, the best of those with most is
// found. Only hypotheses with all terms count towards the B that finish, and the search goes on
// while a live one is better so far.
//
// With a repetition penalty, tokens that a hypothesis has already are asked for besides the best
// others, so its best continuations are exact. What they lose counts in scores and not in
// log-probabilities.
#ifndef ATTEND_SEARCH_BEAM_SEARCH_H_
#define ATTEND_SEARCH_BEAM_SEARCH_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "search/item_search.h"

namespace attend {

// Used for one input after another; keeps its memory. One owner.
class BeamSearch : public ItemSearch {
 public:
  // `constrained`: the second search of the input.
  void Start(const SearchInput* input, const SearchOptions* options, bool constrained = false);
  bool done() const override { return live_.empty(); }
  int64_t AddRows(int64_t first_hypothesis, std::vector<StepRow>* rows) override;
  int64_t candidates() const override;
  // Tokens that a hypothesis has and that cost something again, at most.
  int64_t repeatable() const { return input_->options.repetition_penalty == 1 ? 0 : length_; }
  // Of the best tokens after each hypothesis so many are wanted, and `more` where others need them.
  void WantMore(int64_t more) { more_ = more; }
  // What each of these tokens, as often as it stands there, costs a continuation in the next step:
  // the choice of what lives on, and no score.
  void Avoid(std::span<const int32_t> tokens, double penalty);
  std::span<const int32_t> Advance(const Candidate* best, int64_t k) override;
  int64_t live() const { return std::ssize(live_); }
  // The first rows were `other`'s, of the same input.
  void ReadAs(const BeamSearch& other) { attention_ = other.attention_; }
  // The newest token of each live hypothesis. Precondition: the search has advanced.
  void AddLastTokens(std::vector<int32_t>* tokens) const;
  std::vector<SearchResult> Results() const override;
  bool WantsConstraints() const override;

 private:
  // Outputs form a tree; a hypothesis is the node it ends in.
  struct Node {
    int32_t id;
    int32_t parent;
  };
  struct Live {
    int32_t node;  // -1: still empty
    double log_probability;
    int64_t shown = 0;    // tokens that show something
    uint64_t met = 0;     // of `once`, a bit each; of a constrained search
    int32_t state = 0;    // of the guide of rules or terms
    double penalty = 0;   // of its repeated tokens
    int64_t covered = 0;  // its row of coverage_; of what ends, its parent's
    double Total() const { return log_probability - penalty; }
  };
  struct Expansion {
    double log_probability;
    int32_t beam;
    int32_t id;
    uint64_t met = 0;
    int32_t state = 0;   // of the terms' guide
    double penalty = 0;  // of repeated tokens, up to this one
    double cost = 0;     // of a token to be avoided
    double Loss() const { return cost + penalty - log_probability; }
    bool operator<(const Expansion& other) const;
  };
  struct Kept {
    int32_t node;
    double score;
    double log_probability;
    double total;  // the score without a length penalty
    bool finished;
    int64_t missing;   // terms
    std::string text;  // where it is known and wanted
  };

  bool Shows(int32_t id) const {
    return id >= std::ssize(options_->blank) || options_->blank[id] == 0;
  }
  bool Scored() const;
  int64_t Wanted() const;  // of the best tokens after a hypothesis
  // Tokens of the output that were given; as many as it has room for.
  int64_t PrefixLength() const { return std::min(std::ssize(input_->prefix), input_->max_length); }
  // What the decoder reads before the output.
  std::span<const int32_t> Prompt() const { return input_->PromptOr(options_->prompt); }
  int64_t AddFirstRows(int64_t first_hypothesis, std::vector<StepRow>* rows);
  // Of a placeholder in Live::met; 0 for other tokens.
  uint64_t BitOf(int32_t id) const;
  double CostOf(int32_t id) const;
  std::vector<int32_t> IdsOf(int32_t node) const;
  bool MayEnd(const Live& hypothesis) const;
  // Fills in which tokens may not follow a live hypothesis, and which are wanted in any case;
  // `never` and `also` keep them where they come from several rules.
  void SetTokens(const Live& hypothesis, std::vector<int32_t>* never, std::vector<int32_t>* also,
                 StepRow* row) const;
  bool Has(const Live& hypothesis, int32_t id) const;
  // Of a candidate after live hypothesis b.
  Expansion Expanded(int64_t b, const Candidate& candidate) const;
  void ExpandConstrained(const Candidate* best, int64_t k);
  bool Covers() const { return input_->options.coverage_penalty > 0; }
  // Where the next row that writes a token tells what it looks at; empty where nobody asks.
  std::span<float> NextAttention();
  // Adds what the rows of the last step looked at.
  void AddAttention();
  // Each live hypothesis takes its parent's.
  void PassCoverageOn();
  double CoverageScore(int64_t row) const;
  void Prune();
  // Of a constrained search: the bank that an output belongs to, by what it has.
  int64_t BankOf(const Expansion& expansion) const;
  void CountWanted();
  int64_t MissingOf(std::span<const int32_t> ids) const;
  bool LacksPlaceholders() const;
  bool LacksTerms() const;
  void GoOn(const Expansion& expansion);
  void KeepEnded(const Expansion& expansion);
  void Choose();
  void ChooseFromBanks();
  void Keep(const Live& hypothesis, int64_t length, bool finished);
  bool NothingCanWin() const;
  bool ExitsEarly() const;
  bool LeaderGoesOn() const;
  bool Ended() const;
  void Close();

  const SearchInput* input_ = nullptr;
  const SearchOptions* options_ = nullptr;
  bool constrained_ = false;
  int64_t beam_size_ = 1;
  std::unique_ptr<OutputGuide> guide_;  // null: there are no rules
  std::unique_ptr<TermGuide> terms_;    // of a constrained search with terms
  std::vector<Node> nodes_;
  std::vector<Live> live_, next_;
  std::vector<Expansion> expansions_;
  std::vector<int32_t> parents_;
  std::vector<std::vector<int32_t>> never_, also_;  // of each live hypothesis, if it has its own
  std::vector<int32_t> avoided_;
  double penalty_ = 0;  // of each in avoided_
  int64_t more_ = 0;    // of WantMore
  // [rows, S]: of the step's rows that write a token, and of each live hypothesis so far.
  std::vector<float> attention_, coverage_, next_coverage_;
  int64_t attention_rows_ = 0;
  std::vector<Kept> kept_;   // of different texts; finished first, the best first
  int64_t finished_ = 0;     // all of them that have all terms
  int64_t tokens_left_ = 0;  // WantedTerms::TokensLeft
  int64_t wanted_ = 0;       // by the terms, of the hypothesis that they want most of
  int64_t length_ = 0;       // of live outputs
  bool started_ = false;     // prompt and prefix are read
};

// Beam size of a search with constraints: at least one place for each number of placeholders met.
int64_t ConstrainedBeamSize(const SearchInput& input);

}  // namespace attend

#endif  // ATTEND_SEARCH_BEAM_SEARCH_H_
