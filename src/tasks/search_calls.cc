#include "tasks/search_calls.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "tasks/checks.h"

namespace attend {
namespace {

constexpr std::chrono::milliseconds kLookForStop{20};

}  // namespace

struct SearchCalls::Call {
  Call(std::vector<SearchInput> all, const CallOptions& asked, int workers)
      : options(asked), results(all.size()), loads(workers), left(std::ssize(all)) {
    for (SearchInput& input : all) inputs.push_back({std::move(input), this});
    for (CallInput& input : inputs) waiting.push_back(&input);
    std::ranges::stable_sort(waiting, std::ranges::greater(), [](const CallInput* input) {
      return input->source.size() + input->prompt.size();
    });
  }

  bool stopped() const { return options.stop != nullptr && *options.stop; }
  bool unwanted() const { return failed || stopped(); }
  size_t IndexOf(const SearchInput& input) const {
    return static_cast<const CallInput*>(&input) - inputs.data();
  }

  const CallOptions& options;
  std::vector<CallInput> inputs;
  std::deque<CallInput*> waiting;
  std::vector<std::vector<SearchResult>> results;
  std::vector<SearchLoad> loads;  // by worker
  int64_t left;                   // inputs that wait or are searched
  std::atomic<bool> failed{false};
  std::exception_ptr error;  // the first
  std::condition_variable ended;
};

std::vector<std::vector<SearchResult>> SearchCalls::Run(std::vector<SearchInput> inputs,
                                                        const CallOptions& options) {
  Call call(std::move(inputs), options, pool_->size());
  if (call.left > 0) {
    Put(&call);
    pool_->Wake();
    Wait(&call);
  }
  if (call.error) std::rethrow_exception(call.error);
  CheckNotStopped(options.stop);
  return std::move(call.results);
}

void SearchCalls::Put(Call* call) {
  const std::lock_guard lock(mutex_);
  for (const CallInput* input : call->waiting) tokens_ += input->tokens();
  calls_.push_back(call);
  waiting_.push_back(call);
  if (call->options.work != nullptr) ++timed_;
}

void SearchCalls::Wait(Call* call) {
  std::unique_lock lock(mutex_);
  while (!call->ended.wait_for(lock, kLookForStop, [call] { return call->left == 0; })) {
    if (call->stopped()) Drop(call);
  }
  std::erase(calls_, call);
  if (call->options.work != nullptr) --timed_;
}

// A call's first item on a thread always joins, so short calls don't wait for long ones. A
// thread takes at most its share, so that none is idle beside one with many items.
const SearchInput* SearchCalls::Next(const SearchLoad& load) {
  const std::lock_guard lock(mutex_);
  if (load.sentences > 0 && load.tokens > tokens_ / pool_->size()) return nullptr;
  for (size_t turn = 0; turn < waiting_.size(); ++turn) {
    Call* call = waiting_.front();
    waiting_.pop_front();
    CallInput* input = call->waiting.front();
    SearchLoad& own = call->loads[load.worker];
    own.joining = load.joining;
    const bool takes = call->options.room.Takes(own, input->tokens());
    if (takes) {
      call->waiting.pop_front();
      input->worker = load.worker;
      ++own.sentences;
      own.tokens += input->tokens();
    }
    if (!call->waiting.empty()) waiting_.push_back(call);
    if (takes) return input;
  }
  return nullptr;
}

bool SearchCalls::Wanted(const SearchInput& input) {
  return !static_cast<const CallInput&>(input).call->unwanted();
}

void SearchCalls::Done(const SearchInput& input, std::vector<SearchResult> results) {
  const auto& done = static_cast<const CallInput&>(input);
  done.call->results[done.call->IndexOf(input)] = std::move(results);
  const std::lock_guard lock(mutex_);
  Leave(done);
}

bool SearchCalls::Grew(const SearchInput& input, const Growth& growth) {
  Call& call = *static_cast<const CallInput&>(input).call;
  if (!call.options.grew) return true;
  try {
    return call.options.grew(call.IndexOf(input), growth);
  } catch (...) {  // of the caller's own function; other calls go on
    const std::lock_guard lock(mutex_);
    Fail(&call, std::current_exception());
    return false;
  }
}

void SearchCalls::Dropped(const SearchInput& input) {
  const std::lock_guard lock(mutex_);
  Leave(static_cast<const CallInput&>(input));
}

void SearchCalls::Failed(const SearchInput& input, const std::exception_ptr& error) {
  const auto& failed = static_cast<const CallInput&>(input);
  const std::lock_guard lock(mutex_);
  Fail(failed.call, error);
  Leave(failed);
}

void SearchCalls::Fail(Call* call, const std::exception_ptr& error) {
  if (!call->error) call->error = error;
  call->failed = true;
  Drop(call);
}

void SearchCalls::Spent(const WorkSeconds& seconds) {
  const std::lock_guard lock(mutex_);
  for (const Call* call : calls_) {
    if (call->options.work != nullptr) *call->options.work += seconds;
  }
}

void SearchCalls::Drop(Call* call) {
  for (const CallInput* input : call->waiting) tokens_ -= input->tokens();
  call->left -= std::ssize(call->waiting);
  call->waiting.clear();
  std::erase(waiting_, call);
}

// The caller may go on, and the call end, as soon as the lock is free.
void SearchCalls::Leave(const CallInput& input) {
  Call* call = input.call;
  SearchLoad& load = call->loads[input.worker];
  --load.sentences;
  load.tokens -= input.tokens();
  tokens_ -= input.tokens();
  if (--call->left == 0) call->ended.notify_one();
}

}  // namespace attend
