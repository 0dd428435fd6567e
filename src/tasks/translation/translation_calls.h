// The sentences of a Translator's concurrent calls, as a queue for the searches of its threads.
#ifndef ATTEND_TASKS_TRANSLATION_TRANSLATION_CALLS_H_
#define ATTEND_TASKS_TRANSLATION_TRANSLATION_CALLS_H_

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "attend/translator.h"
#include "base/work_pool.h"
#include "tasks/translation/search_work.h"

namespace attend {

// Safe to use from many threads. A call's sentences go in by length, the longest first. Calls take
// turns, each within the limits of its own options.
class TranslationCalls : public SharedQueue {
 public:
  explicit TranslationCalls(WorkPool* pool) : pool_(pool) {}

  // The result of each input, in order; an input with no token but eos has an empty one. Returns
  // when all are done. Throws what a search throws, and Error(kRuntime) for a call that is stopped.
  std::vector<Translation> Run(std::vector<SearchInput> inputs, const TranslationOptions& options);

  const SearchInput* Next(const SearchLoad& load) override;
  bool Wanted(const SearchInput& input) override;
  void Done(const SearchInput& input, std::vector<SearchResult> results) override;
  void Dropped(const SearchInput& input) override;
  void Failed(const SearchInput& input, const std::exception_ptr& error) override;
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
  // Drops the waiting sentences of the call.
  void Drop(Call* call);
  void Leave(const CallInput& input);

  WorkPool* pool_;
  std::mutex mutex_;
  std::vector<Call*> calls_;
  std::deque<Call*> waiting_;  // those with sentences that wait, in the order of their turns
  int64_t tokens_ = 0;         // of sentences that wait or are searched
  std::atomic<int> timed_{0};  // calls that want to know their time
};

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSLATION_TRANSLATION_CALLS_H_
