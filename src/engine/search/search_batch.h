// The sentences that one thread searches together.
#ifndef ATTEND_ENGINE_SEARCH_SEARCH_BATCH_H_
#define ATTEND_ENGINE_SEARCH_SEARCH_BATCH_H_

#include <cstdint>
#include <exception>
#include <vector>

#include "engine/search/beam_search.h"
#include "engine/search/sentence_search.h"
#include "engine/search/stepper.h"

namespace attend {

// Finished sentences leave and waiting ones join between steps; what shares a step changes no
// result. One owner. Queue and stepper must outlive it.
class SearchBatch {
 public:
  // `worker`: what the queue is told of the thread.
  SearchBatch(const SearchOptions& options, SearchQueue* queue, Stepper* stepper, int worker);

  // Lets waiting sentences join.
  void Admit();
  // A step of all that there are.
  void Step();
  // All leave as failed: where Admit or Step threw.
  void Fail(const std::exception_ptr& error);
  int64_t size() const { return load_.sentences; }

 private:
  int64_t TakePlace();
  void Leave(int64_t place);
  void Begin();
  void Advance();
  void Finish(int64_t place);
  void DropUnwanted();

  const SearchOptions options_;
  SearchQueue* queue_;
  Stepper* stepper_;
  SearchLoad load_;
  std::vector<SentenceSearch> searches_;  // by place
  std::vector<int64_t> live_, free_;      // places
  std::vector<NewSentence> joining_;
  std::vector<StepRow> rows_;
  std::vector<Candidate> best_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_SEARCH_SEARCH_BATCH_H_
