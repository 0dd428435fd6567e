#include "search/diverse_search.h"

#include <algorithm>
#include <string>
#include <utility>

namespace attend {

void DiverseSearch::Start(const SearchInput* input, const SearchOptions* options) {
  of_group_ = *input;
  of_group_.options.beam_size /= input->options.groups;
  of_group_.options.n_best = std::min(input->options.n_best, of_group_.options.beam_size);
  of_group_.options.scores = true;  // the cost of a token is weighed against them
  n_best_ = input->options.n_best;
  options_ = options;
  groups_.resize(input->options.groups);
  // A group may avoid as many tokens as all groups before it have hypotheses.
  const int64_t avoided = (input->options.groups - 1) * of_group_.options.beam_size;
  for (BeamSearch& group : groups_) {
    group.Start(&of_group_, options);
    group.WantMore(avoided);
  }
  started_ = false;
}

bool DiverseSearch::done() const { return std::ranges::all_of(groups_, &BeamSearch::done); }

int64_t DiverseSearch::AddRows(int64_t first_hypothesis, std::vector<StepRow>* rows) {
  if (!started_) return groups_[0].AddRows(first_hypothesis, rows);
  int64_t asking = 0;
  for (BeamSearch& group : groups_) {
    if (group.done()) continue;
    asking += group.AddRows(first_hypothesis + asking, rows);
  }
  return asking;
}

int64_t DiverseSearch::candidates() const {
  int64_t most = 0;
  for (const BeamSearch& group : groups_) most = std::max(most, group.candidates());
  return most;
}

std::span<const int32_t> DiverseSearch::Advance(const Candidate* best, int64_t k) {
  parents_.clear();
  std::vector<int32_t> taken;
  int32_t first = 0;  // of the group's hypotheses before this step
  for (BeamSearch& group : groups_) {
    if (group.done()) continue;
    const auto before = static_cast<int32_t>(group.live());
    if (!started_ && &group != &groups_[0]) group.ReadAs(groups_[0]);
    group.Avoid(taken, of_group_.options.diversity);
    for (const int32_t parent : group.Advance(best, k)) parents_.push_back(first + parent);
    group.AddLastTokens(&taken);
    if (!started_) continue;
    first += before;
    best += before * k;
  }
  started_ = true;
  return parents_;
}

std::vector<SearchResult> DiverseSearch::Results() const {
  std::vector<std::vector<SearchResult>> found;
  for (const BeamSearch& group : groups_) found.push_back(group.Results());
  std::vector<SearchResult> results;
  std::vector<std::string> texts;
  for (int64_t rank = 0; rank < of_group_.options.n_best; ++rank) {
    for (std::vector<SearchResult>& of_group : found) {
      if (rank >= std::ssize(of_group) || std::ssize(results) == n_best_) continue;
      if (options_->text_of) {
        std::string text = options_->text_of(of_group[rank].ids);
        if (std::ranges::find(texts, text) != texts.end()) continue;
        texts.push_back(std::move(text));
      }
      results.push_back(std::move(of_group[rank]));
    }
  }
  return results;
}

bool DiverseSearch::WantsConstraints() const {
  return std::ranges::any_of(groups_, &BeamSearch::WantsConstraints);
}

}  // namespace attend
