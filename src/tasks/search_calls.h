// The inputs of concurrent calls of a task, as a queue for the searches of its threads.
#ifndef ATTEND_TASKS_SEARCH_CALLS_H_
#define ATTEND_TASKS_SEARCH_CALLS_H_

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "attend/running.h"
#include "base/work_pool.h"
#include "tasks/search_work.h"

namespace attend {

// What a call asks for.
struct CallOptions {
  SearchRoom room;                          // on each thread
  WorkSeconds* work = nullptr;              // as TranslationOptions::work
  const std::atomic<bool>* stop = nullptr;  // where another thread sets it, the call ends
  // Called for each drawn output after each token, from any thread, with the input's index in the
  // call. false: the output ends. If it throws, the call alone fails.
  std::function<bool(size_t input, const Growth& growth)> grew = {};
};

// Safe to use from many threads. A call's items go in by length, the longest first. Calls take
// turns, each within the limits of its own options.
class SearchCalls : public SharedQueue {
 public:
  explicit SearchCalls(WorkPool* pool) : pool_(pool) {}

  // The results of each input, in order. Returns when all are done. Throws what a search throws,
  // and Error(kRuntime) for a call that is stopped.
  std::vector<std::vector<SearchResult>> Run(std::vector<SearchInput> inputs,
                                             const CallOptions& options);

  const SearchInput* Next(const SearchLoad& load) override;
  bool Wanted(const SearchInput& input) override;
  void Done(const SearchInput& input, std::vector<SearchResult> results) override;
  void Dropped(const SearchInput& input) override;
  void Failed(const SearchInput& input, const std::exception_ptr& error) override;
  bool Grew(const SearchInput& input, const Growth& growth) override;
  bool Timed() override { return timed_ > 0; }
  void Spent(const WorkSeconds& seconds) override;

 private:
  struct Call;
  struct CallInput : SearchInput {
    Call* call = nullptr;
    int worker = 0;  // the thread that searches it
  };

  void Put(Call* call);
  void Wait(Call* call);
  // Drops the waiting items of the call.
  void Drop(Call* call);
  void Leave(const CallInput& input);
  // Its other items leave at their next step.
  void Fail(Call* call, const std::exception_ptr& error);

  WorkPool* pool_;
  std::mutex mutex_;
  std::vector<Call*> calls_;
  std::deque<Call*> waiting_;  // those with items that wait, in the order of their turns
  int64_t tokens_ = 0;         // of items that wait or are searched
  std::atomic<int> timed_{0};  // calls that want to know their time
};

}  // namespace attend

#endif  // ATTEND_TASKS_SEARCH_CALLS_H_
