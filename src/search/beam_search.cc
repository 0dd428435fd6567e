#include "search/beam_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

#include "search/repeats.h"
#include "search/scores.h"

namespace attend {

bool BeamSearch::Expansion::operator<(const Expansion& other) const {
  const auto order = [](const Expansion& one) { return std::tuple(one.Loss(), one.beam, one.id); };
  return order(*this) < order(other);
}

void BeamSearch::Start(const SearchInput* input, const SearchOptions* options, bool constrained) {
  input_ = input;
  options_ = options;
  constrained_ = constrained;
  beam_size_ = constrained ? ConstrainedBeamSize(*input) : input->options.beam_size;
  terms_ = constrained && input->terms != nullptr ? input->terms->Begin() : nullptr;
  tokens_left_ = terms_ != nullptr ? input->terms->TokensLeft() : 0;
  if (terms_ != nullptr) {
    const int64_t wide = std::max(beam_size_, kLeastBeamWithTerms) + tokens_left_;
    beam_size_ = std::max(beam_size_, std::min(wide, options->max_beam_size));
  }
  nodes_.clear();
  live_.assign(1, {-1, 0});
  kept_.clear();
  finished_ = length_ = 0;
  started_ = false;
  avoided_.clear();
  more_ = 0;
  attention_.clear();
  coverage_.assign(Covers() ? input->source.size() : 0, 0);
  guide_ = input->rules != nullptr ? input->rules->Begin() : nullptr;
  // The output begins with the prefix, as far as its maximum length reaches.
  for (; length_ < PrefixLength(); ++length_) {
    const int32_t id = input->prefix[length_];
    live_[0].shown += Shows(id) ? 1 : 0;
    live_[0].met |= BitOf(id);
    if (terms_ != nullptr) live_[0].state = terms_->Next(live_[0].state, id);
    nodes_.push_back({id, live_[0].node});
    live_[0].node = static_cast<int32_t>(length_);
  }
  CountWanted();
}

void BeamSearch::CountWanted() {
  wanted_ = 0;
  for (size_t b = 0; terms_ != nullptr && b < live_.size(); ++b)
    wanted_ = std::max(wanted_, std::ssize(terms_->Wanted(live_[b].state)));
}

uint64_t BeamSearch::BitOf(int32_t id) const {
  if (!constrained_) return 0;
  const std::vector<int32_t>& once = input_->once;
  const auto found = std::find(once.begin(), once.end(), id);
  return found == once.end() ? 0 : uint64_t{1} << (found - once.begin());
}

// Tokens of the prefix may be dearer than they look: there are as many more of the best.
int64_t BeamSearch::Wanted() const {
  const int64_t best = beam_size_ > 1 || constrained_ ? 2 * beam_size_ : 1;
  return best + more_ + (repeatable() > 0 ? PrefixLength() : 0);
}

// Tokens that were written are asked for beside the best.
int64_t BeamSearch::candidates() const {
  return Wanted() + (constrained_ ? std::ssize(input_->once) : 0) + wanted_ + repeatable();
}

bool BeamSearch::MayEnd(const Live& hypothesis) const {
  const SentenceOptions& options = input_->options;
  if (hypothesis.shown < std::max<int64_t>(options.min_length, options.must_show ? 1 : 0)) {
    return false;
  }
  if (guide_ != nullptr && !guide_->MayEnd(hypothesis.state)) return false;
  return !constrained_ || std::popcount(hypothesis.met) == std::ssize(input_->once);
}

void BeamSearch::SetTokens(const Live& hypothesis, std::vector<int32_t>* never,
                           std::vector<int32_t>* also, StepRow* row) const {
  const SentenceOptions& options = input_->options;
  row->never = options_->never;
  if (guide_ != nullptr) row->never = guide_->Never(hypothesis.state);
  if (constrained_) {
    row->never = options_->placeholders;
    row->also = input_->once;
  }
  if (options.no_repeat_ngram == 0 && options.repetition_penalty == 1 && terms_ == nullptr) return;
  never->assign(row->never.begin(), row->never.end());
  const std::vector<int32_t> ids = IdsOf(hypothesis.node);
  if (options.no_repeat_ngram > 0) AddRepeats(ids, options.no_repeat_ngram, never);
  also->assign(row->also.begin(), row->also.end());
  if (options.repetition_penalty != 1)
    AskFor({ids.begin() + PrefixLength(), ids.end()}, never, also);
  if (terms_ != nullptr) {
    const std::span<const int32_t> wanted = terms_->Wanted(hypothesis.state);
    AskFor({wanted.begin(), wanted.end()}, never, also);
  }
  row->also = *also;
  row->never = *never;
}

bool BeamSearch::Scored() const {
  return input_->options.scores || input_->options.beam_size > 1 || constrained_ ||
         input_->options.repetition_penalty != 1;
}

// What is read before the last token; the prefix's tokens are asked for where they are scored.
int64_t BeamSearch::AddFirstRows(int64_t first_hypothesis, std::vector<StepRow>* rows) {
  const std::span<const int32_t> prompt = Prompt();
  int64_t asking = 0;
  for (int64_t i = 0; i + 1 < std::ssize(prompt) + length_; ++i) {
    const int64_t next = i + 1 - std::ssize(prompt);  // in the prefix
    StepRow& row = rows->emplace_back();
    row.hypothesis = static_cast<int32_t>(first_hypothesis);
    row.token = next <= 0 ? prompt[i] : input_->prefix[next - 1];
    if (guide_ != nullptr) row.source_row = guide_->SourceRow(0);
    row.asks = next >= 0 && Scored();
    if (next >= 0) row.attention = NextAttention();
    if (!row.asks) continue;
    row.forced = input_->prefix[next];
    ++asking;
  }
  return asking;
}

int64_t BeamSearch::AddRows(int64_t first_hypothesis, std::vector<StepRow>* rows) {
  attention_rows_ = 0;
  if (Covers()) {
    const int64_t written = started_ ? 0 : length_;
    attention_.assign((written + live()) * input_->source.size(), 0);
  }
  int64_t asking = started_ ? 0 : AddFirstRows(first_hypothesis, rows);
  if (length_ == input_->max_length) return asking;
  const SentenceOptions& options = input_->options;
  never_.resize(live_.size());
  also_.resize(live_.size());
  for (size_t b = 0; b < live_.size(); ++b, ++asking) {
    const int32_t node = live_[b].node;
    StepRow& row = rows->emplace_back();
    row.hypothesis = static_cast<int32_t>(first_hypothesis + static_cast<int64_t>(b));
    row.token = node < 0 ? Prompt().back() : nodes_[node].id;
    row.may_end = MayEnd(live_[b]);
    row.may_be_unknown = options.allow_unknown;
    row.scored = Scored();
    row.most = static_cast<int32_t>(Wanted());
    row.attention = NextAttention();
    if (guide_ != nullptr) row.source_row = guide_->SourceRow(live_[b].state);
    SetTokens(live_[b], &never_[b], &also_[b], &row);
  }
  return asking;
}

void BeamSearch::Avoid(std::span<const int32_t> tokens, double penalty) {
  avoided_.assign(tokens.begin(), tokens.end());
  penalty_ = penalty;
}

double BeamSearch::CostOf(int32_t id) const {
  return penalty_ * static_cast<double>(std::ranges::count(avoided_, id));
}

bool BeamSearch::Has(const Live& hypothesis, int32_t id) const {
  int32_t node = hypothesis.node;
  while (node >= 0 && nodes_[node].id != id) node = nodes_[node].parent;
  return node >= 0;
}

BeamSearch::Expansion BeamSearch::Expanded(int64_t b, const Candidate& candidate) const {
  const double repetition_penalty = input_->options.repetition_penalty;
  Expansion expansion{.log_probability = live_[b].log_probability + candidate.log_probability,
                      .beam = static_cast<int32_t>(b),
                      .id = candidate.id,
                      .penalty = live_[b].penalty,
                      .cost = CostOf(candidate.id)};
  if (repetition_penalty != 1 && Has(live_[b], candidate.id))
    expansion.penalty -= (repetition_penalty - 1) * candidate.log_probability;
  return expansion;
}

void BeamSearch::AddLastTokens(std::vector<int32_t>* tokens) const {
  for (const Live& hypothesis : live_) tokens->push_back(nodes_[hypothesis.node].id);
}

// Precondition: expansions are sorted.
void BeamSearch::Prune() {
  const double threshold = input_->options.beam_threshold;
  if (threshold <= 0 || constrained_) return;
  const auto far = [&](const Expansion& each) {
    return each.Loss() > expansions_.front().Loss() + threshold;
  };
  expansions_.erase(std::ranges::find_if(expansions_, far), expansions_.end());
}

std::span<const int32_t> BeamSearch::Advance(const Candidate* best, int64_t k) {
  if (Covers()) AddAttention();
  if (!started_) {
    started_ = true;
    for (int64_t i = 0; Scored() && i < length_; ++i, best += k) {
      live_[0].log_probability += best->log_probability;
    }
    if (length_ == input_->max_length) {
      Close();
      return parents_;
    }
  }
  expansions_.clear();
  for (size_t b = 0; b < live_.size() && !constrained_; ++b) {
    for (int64_t i = 0; i < k && best[b * k + i].id >= 0; ++i) {
      const Candidate& candidate = best[b * k + i];
      if (std::isfinite(candidate.log_probability))
        expansions_.push_back(Expanded(static_cast<int64_t>(b), candidate));
    }
  }
  if (constrained_) ExpandConstrained(best, k);
  std::sort(expansions_.begin(), expansions_.end());
  Prune();
  constrained_ ? ChooseFromBanks() : Choose();
  if (Covers()) PassCoverageOn();
  ++length_;
  if (Ended()) Close();
  CountWanted();
  return parents_;
}

// Leaves out hypotheses that can't reach all missing placeholders within the maximum length.
void BeamSearch::ExpandConstrained(const Candidate* best, int64_t k) {
  const int64_t count = std::ssize(input_->once), left = input_->max_length - length_ - 1;
  for (size_t b = 0; b < live_.size(); ++b) {
    for (int64_t i = 0; i < k && best[b * k + i].id >= 0; ++i) {
      const Candidate& candidate = best[b * k + i];
      const uint64_t bit = BitOf(candidate.id), met = live_[b].met | bit;
      if ((live_[b].met & bit) != 0 || count - std::popcount(met) > left) continue;
      expansions_.push_back(Expanded(static_cast<int64_t>(b), candidate));
      expansions_.back().met = met;
      const int32_t state = live_[b].state;
      if (terms_ == nullptr) continue;
      expansions_.back().state =
          candidate.id == options_->eos ? state : terms_->Next(state, candidate.id);
    }
  }
}

void BeamSearch::Choose() {
  next_.clear();
  parents_.clear();
  for (size_t rank = 0; rank < expansions_.size(); ++rank) {
    const Expansion& expansion = expansions_[rank];
    if (std::ssize(next_) == beam_size_) break;
    const int32_t parent = live_[expansion.beam].node;
    if (expansion.id == options_->eos) {
      if (static_cast<int64_t>(rank) < beam_size_) {
        Keep({.node = parent,
              .log_probability = expansion.log_probability,
              .penalty = expansion.penalty,
              .covered = expansion.beam},
             length_ + 1, true);
      }
      continue;
    }
    GoOn(expansion);
  }
  live_.swap(next_);
}

void BeamSearch::GoOn(const Expansion& expansion) {
  const int32_t parent = live_[expansion.beam].node;
  const int32_t state = live_[expansion.beam].state;
  next_.push_back({static_cast<int32_t>(nodes_.size()), expansion.log_probability,
                   live_[expansion.beam].shown + (Shows(expansion.id) ? 1 : 0), expansion.met,
                   guide_ != nullptr ? guide_->Next(state, expansion.id) : expansion.state,
                   expansion.penalty, std::ssize(next_)});
  nodes_.push_back({expansion.id, parent});
  parents_.push_back(expansion.beam);
}

void BeamSearch::KeepEnded(const Expansion& expansion) {
  Keep({.node = live_[expansion.beam].node,
        .log_probability = expansion.log_probability,
        .state = expansion.state,
        .penalty = expansion.penalty,
        .covered = expansion.beam},
       length_ + 1, true);
}

int64_t BeamSearch::BankOf(const Expansion& expansion) const {
  const int64_t placeholders = std::popcount(expansion.met);
  if (terms_ == nullptr) return placeholders;
  return placeholders + tokens_left_ - terms_->TokensLeft(expansion.state);
}

// A bank holds the hypotheses that have equally much of `once` and of the terms. The banks fill the
// beam in turn, each with its best, beginning with the highest. An output without all terms ends in
// its turn alone.
void BeamSearch::ChooseFromBanks() {
  next_.clear();
  parents_.clear();
  // Places in expansions_, rising.
  std::vector<std::vector<size_t>> banks(std::ssize(input_->once) + tokens_left_ + 1);
  for (size_t i = 0; i < expansions_.size(); ++i) {
    const Expansion& expansion = expansions_[i];
    std::vector<size_t>& bank = banks[BankOf(expansion)];
    const bool lacks = terms_ != nullptr && terms_->Missing(expansion.state) > 0;
    if (expansion.id != options_->eos || lacks) {
      bank.push_back(i);
    } else if (std::ssize(bank) < beam_size_) {
      KeepEnded(expansion);
    }
  }
  std::vector<size_t> chosen;
  bool more = true;
  for (size_t turn = 0; more && std::ssize(chosen) < beam_size_; ++turn) {
    more = false;
    for (size_t bank = banks.size(); bank-- > 0 && std::ssize(chosen) < beam_size_;) {
      if (turn >= banks[bank].size()) continue;
      more = true;
      const size_t place = banks[bank][turn];
      if (expansions_[place].id == options_->eos) {
        KeepEnded(expansions_[place]);
      } else {
        chosen.push_back(place);
      }
    }
  }
  std::sort(chosen.begin(), chosen.end());
  for (const size_t i : chosen) GoOn(expansions_[i]);
  live_.swap(next_);
}

void BeamSearch::Keep(const Live& hypothesis, int64_t length, bool finished) {
  const double coverage = Covers() ? CoverageScore(hypothesis.covered) : 0;
  const double total = hypothesis.Total();
  const double score = total / LengthPenalty(length, input_->options.length_penalty) + coverage;
  const int64_t missing = terms_ != nullptr ? terms_->Missing(hypothesis.state) : 0;
  Kept kept{.node = hypothesis.node,
            .score = score,
            .log_probability = hypothesis.log_probability,
            .total = total + coverage,
            .finished = finished,
            .missing = missing,
            .text = {}};
  if (finished && missing == 0) ++finished_;
  // Equal scores keep the order in which they came: by length, then rank.
  const auto behind = [](const Kept& a, const Kept& b) {
    if (a.finished != b.finished) return a.finished;
    return a.missing != b.missing ? a.missing < b.missing : a.score > b.score;
  };
  if (input_->options.n_best > 1 && options_->text_of) {
    kept.text = options_->text_of(IdsOf(kept.node));
    const auto same = std::find_if(kept_.begin(), kept_.end(),
                                   [&](const Kept& other) { return other.text == kept.text; });
    if (same != kept_.end() && !behind(kept, *same)) return;
    if (same != kept_.end()) kept_.erase(same);
  }
  const auto place = std::upper_bound(kept_.begin(), kept_.end(), kept, behind);
  kept_.insert(place, std::move(kept));
}

// Nothing live can win: log-probabilities and what coverage adds are at most 0, penalties at least
// 0, so a live hypothesis of total s ends with one of at most s, at a length of at most L.
// Penalties grow with the length (alpha >= 0), and a number that is not positive divided by a
// larger penalty is larger: its score is at most s / penalty(L). Rounded sums and quotients keep
// that order. An equal score comes later and stands behind. The same holds for one that will have
// the text of a kept one: it takes the place of that only with a larger score.
bool BeamSearch::NothingCanWin() const {
  if (std::ssize(kept_) < input_->options.n_best) return false;
  if (kept_[input_->options.n_best - 1].missing > 0) return false;
  const auto best = std::ranges::max_element(live_, {}, &Live::Total);
  const double bound =
      best->Total() / LengthPenalty(input_->max_length, input_->options.length_penalty);
  return bound <= kept_[input_->options.n_best - 1].score;
}

// What coverage and repeated tokens cost counts as lost probability, so that without a length
// penalty nothing that lives has a better score.
bool BeamSearch::ExitsEarly() const {
  const SentenceOptions& options = input_->options;
  if (options.early_exit <= 0 || finished_ < options.n_best) return false;
  if (std::ssize(kept_) < options.n_best) return false;
  if (kept_[options.n_best - 1].missing > 0) return false;
  const auto least =
      std::ranges::min_element(std::span(kept_).first(options.n_best), {}, &Kept::total);
  const auto best = std::ranges::max_element(live_, {}, &Live::Total);
  return least->total >= best->Total() + std::log(options.early_exit);
}

// Precondition: there are live and finished hypotheses.
bool BeamSearch::LeaderGoesOn() const {
  const SentenceOptions& options = input_->options;
  return (options.leader_goes_on || terms_ != nullptr) &&
         live_[0].Total() / LengthPenalty(length_, options.length_penalty) > kept_[0].score;
}

bool BeamSearch::Ended() const {
  return live_.empty() || length_ >= input_->max_length ||
         (finished_ >= (terms_ != nullptr ? input_->options.beam_size : beam_size_) &&
          !LeaderGoesOn()) ||
         (input_->options.early_stop && NothingCanWin()) || ExitsEarly();
}

void BeamSearch::Close() {
  if (finished_ < input_->options.n_best) {
    for (const Live& hypothesis : live_) {
      if (hypothesis.shown > 0 || !input_->options.must_show) Keep(hypothesis, length_, false);
    }
    // An output without visible tokens is better than none.
    if (kept_.empty() && !live_.empty()) Keep(live_[0], length_, false);
  }
  live_.clear();
  parents_.clear();
  terms_.reset();  // it has all that the search met
}

std::vector<SearchResult> BeamSearch::Results() const {
  std::vector<SearchResult> results;
  for (const Kept& kept : kept_) {
    if (std::ssize(results) == input_->options.n_best) break;
    results.push_back(
        {IdsOf(kept.node), kept.score, kept.log_probability, kept.finished, constrained_});
    results.back().missing = MissingOf(results.back().ids);
    if (input_->options.scores || input_->options.beam_size > 1) continue;
    results.back().score = results.back().log_probability = 0;
  }
  return results;
}

std::vector<int32_t> BeamSearch::IdsOf(int32_t node) const {
  std::vector<int32_t> ids;
  for (; node >= 0; node = nodes_[node].parent) ids.push_back(nodes_[node].id);
  std::reverse(ids.begin(), ids.end());
  return ids;
}

int64_t BeamSearch::MissingOf(std::span<const int32_t> ids) const {
  if (input_->terms == nullptr) return 0;
  const auto guide = input_->terms->Begin();
  int32_t state = 0;
  for (const int32_t id : ids) state = guide->Next(state, id);
  return guide->Missing(state);
}

bool BeamSearch::WantsConstraints() const {
  // The maximum length has no room for the placeholders.
  if (constrained_ ||
      input_->max_length < std::ssize(input_->prefix) + std::ssize(input_->once) + 1) {
    return false;
  }
  return LacksPlaceholders() || LacksTerms();
}

bool BeamSearch::LacksTerms() const {
  return input_->terms != nullptr && !kept_.empty() && MissingOf(IdsOf(kept_[0].node)) > 0;
}

bool BeamSearch::LacksPlaceholders() const {
  const std::vector<int32_t>& once = input_->once;
  if (options_->placeholders.empty()) return false;
  const int64_t results = std::min(std::ssize(kept_), input_->options.n_best);
  return std::any_of(kept_.begin(), kept_.begin() + results, [&](const Kept& kept) {
    std::vector<int32_t> found = IdsOf(kept.node), wanted = once;
    std::erase_if(found, [&](int32_t id) {
      return std::ranges::find(options_->placeholders, id) == options_->placeholders.end();
    });
    std::sort(found.begin(), found.end());
    std::sort(wanted.begin(), wanted.end());
    return found != wanted;
  });
}

int64_t ConstrainedBeamSize(const SearchInput& input) {
  return std::max(input.options.beam_size, std::ssize(input.once) + 1);
}

}  // namespace attend
