// Searches inputs of a queue, many at once.
#ifndef ATTEND_SEARCH_SEARCH_BATCH_H_
#define ATTEND_SEARCH_SEARCH_BATCH_H_

#include <cstdint>
#include <deque>
#include <exception>
#include <span>
#include <vector>

#include "search/beam_search.h"
#include "search/diverse_search.h"
#include "search/sample_search.h"
#include "search/search.h"
#include "search/stepper.h"

namespace attend {

// The items that one thread searches together. Finished items leave and waiting ones join
// between steps. Items in one step do not affect each other's results. One owner. Queue and
// stepper must outlive it.
class SearchBatch {
 public:
  // `worker`: the thread's number, which the queue gets with the load.
  SearchBatch(const SearchOptions& options, SearchQueue* queue, Stepper* stepper, int worker);

  // Lets waiting items join.
  void Admit();
  // One step of all items.
  void Step();
  // Call it if Admit or Step threw: all items fail and leave.
  void Fail(const std::exception_ptr& error);
  int64_t size() const { return load_.sentences; }

 private:
  // An input and what searches it; another input may take it over afterwards.
  struct ActiveInput {
    const SearchInput* input = nullptr;
    BeamSearch beam;
    DiverseSearch diverse;
    SampleSearch sample;
    ItemSearch* search = nullptr;
  };
  int64_t TakeIndex();
  void StartSearch(ActiveInput* active, bool constrained);
  void Leave(int64_t index);
  void Begin();
  void Advance();
  // The second search of an item that wants one, which keeps its index. false: it wants none.
  bool StartAgain(int64_t index);
  void Finish(int64_t index);
  void DropUnwanted();

  const SearchOptions options_;
  SearchQueue* queue_;
  Stepper* stepper_;
  SearchLoad load_;
  std::deque<ActiveInput> inputs_;
  std::vector<int64_t> live_, free_;  // indices in inputs_
  std::vector<int64_t> asking_;       // rows of each live one
  std::vector<NewSentence> joining_;
  std::vector<StepRow> rows_;
  std::vector<Candidate> best_;
};

// Searches until the queue has no more.
void SearchQueued(const SearchOptions& options, SearchQueue* queue, Stepper* stepper);

// The results of each input, in order.
std::vector<std::vector<SearchResult>> SearchAll(std::span<const SearchInput> inputs,
                                                 const SearchOptions& options, Stepper* stepper,
                                                 const SearchRoom& room = {});

}  // namespace attend

#endif  // ATTEND_SEARCH_SEARCH_BATCH_H_
