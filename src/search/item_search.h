// The search of one input, step by step: it asks for rows and takes what comes of them.
#ifndef ATTEND_SEARCH_ITEM_SEARCH_H_
#define ATTEND_SEARCH_ITEM_SEARCH_H_

#include <cstdint>
#include <span>
#include <vector>

#include "search/search.h"
#include "search/stepper.h"

namespace attend {

// One owner.
class ItemSearch {
 public:
  virtual ~ItemSearch() = default;
  // Nothing of it is live.
  virtual bool done() const = 0;
  // The rows of the next step, with all that the first one is to read before it; they may point
  // into the search until Advance. Returns how many of them ask for answers.
  virtual int64_t AddRows(int64_t first_hypothesis, std::vector<StepRow>* rows) = 0;
  // Candidates that each row needs.
  virtual int64_t candidates() const = 0;
  // Takes the k candidates of each row that asked. Returns the parent of each hypothesis that lives
  // on; none: the search is done.
  virtual std::span<const int32_t> Advance(const Candidate* best, int64_t k) = 0;
  virtual std::vector<SearchResult> Results() const = 0;
  // Done, with a result that a second search, with constraints, would better.
  virtual bool WantsConstraints() const { return false; }
};

}  // namespace attend

#endif  // ATTEND_SEARCH_ITEM_SEARCH_H_
