// Diverse beam search (Vijayakumar et al. 2018): a beam in groups, which search the same input side
// by side. In each step a group prefers tokens that the groups before it did not take: each costs
// `diversity` for every live hypothesis of theirs that took it (Hamming diversity). The cost
// decides what lives on; scores are those of the model. The first group is a plain beam search.
#ifndef ATTEND_SEARCH_DIVERSE_SEARCH_H_
#define ATTEND_SEARCH_DIVERSE_SEARCH_H_

#include <cstdint>
#include <span>
#include <vector>

#include "search/beam_search.h"

namespace attend {

// Used for one input after another; keeps its memory. One owner.
class DiverseSearch : public ItemSearch {
 public:
  void Start(const SearchInput* input, const SearchOptions* options);
  bool done() const override;
  int64_t AddRows(int64_t first_hypothesis, std::vector<StepRow>* rows) override;
  int64_t candidates() const override;
  std::span<const int32_t> Advance(const Candidate* best, int64_t k) override;
  // The best of each group, then the second of each, and so on; of equal texts, where they are
  // known, the first.
  std::vector<SearchResult> Results() const override;
  bool WantsConstraints() const override;

 private:
  SearchInput of_group_;
  int64_t n_best_ = 1;
  const SearchOptions* options_ = nullptr;
  std::vector<BeamSearch> groups_;
  std::vector<int32_t> parents_;
  bool started_ = false;  // all groups begin with the same row
};

}  // namespace attend

#endif  // ATTEND_SEARCH_DIVERSE_SEARCH_H_
