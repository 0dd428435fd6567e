#include "serve/tasks/translation/request_queue.h"

#include <algorithm>
#include <new>

namespace attend {
namespace {

// Of so many sentences one is a bulk request's even while interactive ones wait.
constexpr int64_t kBulkShare = 8;

}  // namespace

Job* RequestQueue::JobOf(const Sentence& sentence) {
  return static_cast<const JobSentence&>(sentence).job;
}

bool RequestQueue::TryPut(const std::shared_ptr<Job>& job) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || Waiting() + std::ssize(job->sentences) > capacity_) return false;
    job->left_ = job->sentences.size();
    for (JobSentence& sentence : job->sentences) {
      sentence.job = job.get();
      (job->bulk ? bulk_ : interactive_).push_back(&sentence);
    }
    jobs_.emplace(job.get(), job);
  }
  pool_->Wake();
  return true;
}

bool RequestQueue::HasRoom() const {
  const std::lock_guard lock(mutex_);
  return !closed_ && Waiting() < capacity_;
}

void RequestQueue::TakeBack(Job* job) {
  job->unwanted_ = true;
  const auto theirs = [job](const JobSentence* sentence) { return sentence->job == job; };
  Leave(job, std::erase_if(job->bulk ? bulk_ : interactive_, theirs));
}

void RequestQueue::Cancel(const std::shared_ptr<Job>& job) {
  const std::lock_guard lock(mutex_);
  TakeBack(job.get());
}

void RequestQueue::Close() {
  std::unordered_map<Job*, std::shared_ptr<Job>> ended;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  ended = jobs_;
  for (const auto& [job, held] : ended) TakeBack(job);
}

int64_t RequestQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return Waiting();
}

int64_t RequestQueue::live() const {
  const std::lock_guard lock(mutex_);
  return live_;
}

// Each thread takes its share, so that none stands idle beside one with a long list.
const Sentence* RequestQueue::Next(const SearchLoad& load) {
  const std::lock_guard lock(mutex_);
  const int64_t waiting = Waiting();
  const bool has_share = load.sentences * pool_->size() >= live_ + waiting;
  if (waiting == 0 || (load.sentences > 0 && has_share)) return nullptr;
  const bool from_bulk =
      interactive_.empty() || (!bulk_.empty() && taken_ % kBulkShare == kBulkShare - 1);
  std::deque<const JobSentence*>& line = from_bulk ? bulk_ : interactive_;
  const JobSentence* sentence = line.front();
  if (!room_.Takes(load, std::max(kLeastSourceTokens, std::ssize(sentence->ids) + 1)))
    return nullptr;
  line.pop_front();
  ++taken_;
  ++live_;
  return sentence;
}

bool RequestQueue::Wanted(const Sentence& sentence) { return !JobOf(sentence)->unwanted_; }

std::shared_ptr<Job> RequestQueue::Leave(Job* job, size_t sentences) {
  job->left_ -= sentences;
  if (job->left_ > 0) return nullptr;
  const auto node = jobs_.extract(job);
  return node.empty() ? nullptr : node.mapped();
}

// The sentence has left: whoever has no memory to hear of it must not have it fail once more.
void RequestQueue::End(const Job& job, const std::exception_ptr& error) {
  try {
    job.on_end(error);
  } catch (const std::bad_alloc&) {
  }
}

void RequestQueue::Done(const Sentence& sentence, SentenceResult result) {
  Job* job = JobOf(sentence);
  {
    const std::lock_guard calling(job->calling_);
    auto& mine = job->sentences[static_cast<const JobSentence*>(&sentence) - job->sentences.data()];
    mine.result = std::move(result);
    if (job->on_sentence && !job->unwanted_) job->on_sentence(mine);
  }
  std::shared_ptr<Job> ended;
  {
    const std::lock_guard lock(mutex_);
    --live_;
    ended = Leave(job, 1);
  }
  if (ended != nullptr && !ended->unwanted_) End(*ended, nullptr);
}

void RequestQueue::Dropped(const Sentence& sentence) {
  std::shared_ptr<Job> ended;  // destroyed without the lock
  const std::lock_guard lock(mutex_);
  --live_;
  ended = Leave(JobOf(sentence), 1);
}

void RequestQueue::Failed(const Sentence& sentence, std::exception_ptr error) {
  Job* job = JobOf(sentence);
  std::shared_ptr<Job> held;
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    held = jobs_.at(job);
    first = !job->unwanted_;
    --live_;
    TakeBack(job);
    Leave(job, 1);
  }
  if (first) End(*held, error);
}

}  // namespace attend
