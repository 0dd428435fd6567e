#include "engine/search/beam_search.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace attend {
namespace {

struct Live {
  std::vector<int32_t> ids;
  double log_probability = 0;
};

struct Expansion {
  double log_probability;
  int32_t beam;
  int32_t id;
  bool operator<(const Expansion& other) const {
    return std::tuple(-log_probability, beam, id) <
           std::tuple(-other.log_probability, other.beam, other.id);
  }
};

// One sentence's search.
class Sentence {
 public:
  Sentence(const SearchInput& input, const SearchOptions& options)
      : input_(input), options_(options), live_(1) {}

  bool done() const { return live_.empty(); }

  void AddRows(int64_t first_slot, std::vector<StepRow>* rows) const {
    for (size_t b = 0; b < live_.size(); ++b) {
      const std::vector<int32_t>& ids = live_[b].ids;
      const bool forced = ids.size() < input_.prefix.size();
      rows->push_back({static_cast<int32_t>(first_slot + static_cast<int64_t>(b)),
                       ids.empty() ? options_.bos : ids.back(),
                       forced ? input_.prefix[ids.size()] : -1,
                       std::ssize(ids) >= options_.min_length});
    }
  }

  // Takes the k candidates of each live hypothesis; returns how many rows that were.
  size_t Advance(const Candidate* best, int64_t k, int64_t first_slot, Stepper* stepper) {
    const size_t rows = live_.size();
    expansions_.clear();
    for (size_t b = 0; b < rows; ++b) {
      for (int64_t i = 0; i < k && best[b * k + i].id >= 0; ++i) {
        const Candidate& candidate = best[b * k + i];
        expansions_.push_back({live_[b].log_probability + candidate.log_probability,
                               static_cast<int32_t>(b), candidate.id});
      }
    }
    std::sort(expansions_.begin(), expansions_.end());
    Choose();
    ++length_;
    if (Ended()) {
      Close();
    } else {
      stepper->Reorder(first_slot, parents_);
    }
    return rows;
  }

  std::vector<SearchResult> TakeResults() {
    if (std::ssize(results_) > options_.n_best) results_.resize(options_.n_best);
    return std::move(results_);
  }

 private:
  // The eos a prefix asks for is a token like any other.
  bool Finishes(const Expansion& expansion) const {
    return expansion.id == options_.eos && length_ >= std::ssize(input_.prefix);
  }

  void Choose() {
    next_.clear();
    parents_.clear();
    for (size_t rank = 0; rank < expansions_.size(); ++rank) {
      const Expansion& expansion = expansions_[rank];
      if (std::ssize(next_) == options_.beam_size) break;
      const Live& parent = live_[expansion.beam];
      if (Finishes(expansion)) {
        if (static_cast<int64_t>(rank) < options_.beam_size) {
          Keep(parent.ids, expansion.log_probability, length_ + 1, true);
        }
        continue;
      }
      next_.push_back({parent.ids, expansion.log_probability});
      next_.back().ids.push_back(expansion.id);
      parents_.push_back(expansion.beam);
    }
    live_.swap(next_);
  }

  void Keep(const std::vector<int32_t>& ids, double log_probability, int64_t length,
            bool finished) {
    const double score = log_probability / LengthPenalty(length, options_.length_penalty);
    SearchResult result{ids, score, log_probability, finished};
    // Equal scores keep the order in which they came: by length, then rank.
    const auto behind = [](const SearchResult& a, const SearchResult& b) {
      return a.finished != b.finished ? a.finished : a.score > b.score;
    };
    results_.insert(std::upper_bound(results_.begin(), results_.end(), result, behind),
                    std::move(result));
    if (finished) ++finished_;
  }

  // Nothing live can win: log-probabilities are at most 0, so a live hypothesis of log-probability
  // s ends with one of at most s, at a length of at most L. Penalties grow with the length (alpha
  // >= 0), and a number that is not positive divided by a larger penalty is larger: its score is at
  // most s / penalty(L). Rounded sums and quotients keep that order. An equal score comes later and
  // stands behind. Live hypotheses are sorted, so the first has the largest s.
  bool NothingCanWin() const {
    if (finished_ < options_.n_best) return false;
    const double bound =
        live_[0].log_probability / LengthPenalty(input_.max_length, options_.length_penalty);
    return bound <= results_[options_.n_best - 1].score;
  }

  bool Ended() const {
    return live_.empty() || length_ >= input_.max_length || finished_ >= options_.beam_size ||
           (options_.early_stop && NothingCanWin());
  }

  void Close() {
    if (finished_ < options_.n_best) {
      for (const Live& hypothesis : live_) {
        Keep(hypothesis.ids, hypothesis.log_probability, length_, false);
      }
    }
    live_.clear();
  }

  const SearchInput& input_;
  const SearchOptions& options_;
  std::vector<Live> live_, next_;
  std::vector<Expansion> expansions_;
  std::vector<int32_t> parents_;
  std::vector<SearchResult> results_;  // finished first, the best first
  int64_t finished_ = 0;
  int64_t length_ = 0;
};

}  // namespace

double LengthPenalty(int64_t length, double alpha) {
  return std::pow((5.0 + static_cast<double>(length)) / 6.0, alpha);
}

std::vector<std::vector<SearchResult>> BeamSearch(std::span<const SearchInput> inputs,
                                                  const SearchOptions& options, Stepper* stepper) {
  std::vector<std::vector<int32_t>> sources;
  std::vector<Sentence> sentences;
  for (const SearchInput& input : inputs) {
    sources.push_back(input.source);
    sentences.emplace_back(input, options);
  }
  stepper->Start(sources, options.beam_size);
  const int64_t k = options.beam_size == 1 ? 1 : 2 * options.beam_size;
  std::vector<StepRow> rows;
  std::vector<Candidate> best;
  while (true) {
    rows.clear();
    for (size_t s = 0; s < sentences.size(); ++s) {
      sentences[s].AddRows(static_cast<int64_t>(s) * options.beam_size, &rows);
    }
    if (rows.empty()) break;
    best.assign(rows.size() * k, Candidate{});
    stepper->Step(rows, k, best.data());
    size_t row = 0;
    for (size_t s = 0; s < sentences.size(); ++s) {
      if (sentences[s].done()) continue;
      row += sentences[s].Advance(best.data() + row * k, k,
                                  static_cast<int64_t>(s) * options.beam_size, stepper);
    }
  }
  std::vector<std::vector<SearchResult>> results;
  for (Sentence& sentence : sentences) results.push_back(sentence.TakeResults());
  return results;
}

}  // namespace attend
