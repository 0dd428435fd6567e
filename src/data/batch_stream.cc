#include "data/batch_stream.h"

#include <fmt/format.h>

#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "attend/error.h"

namespace attend {
namespace {

// A window and its batches.
struct Planned {
  int64_t epoch = 0;
  WindowStart start;
  bool last = false;
  Window window;
  BatchPlan batches;
};

// A window that is whole, or the way there: this peer's part, then all parts that are on their way,
// then neither while a worker puts them together.
struct Made {
  bool whole = true;  // or an error
  Planned planned;
  std::string part;
  Peers::Gathered parts;
  std::exception_ptr error;
};

}  // namespace

// Workers take windows from the reader one at a time, in order, and make them side by side: whole,
// or this peer's part, which the owner's thread begins to exchange for the others' and a worker
// puts together with them. Members above mutex_ and threads_ are the owner's thread's alone; the
// reader is that of the worker which set reading_; the others are guarded by the mutex.
struct BatchStream::Impl {
  Impl(const ExampleSource* source, const BatchOptions& options, const DataPosition& position);
  ~Impl();

  void Work();
  Made Make(std::unique_lock<std::mutex>* lock);
  Made MakeFrom(const WindowWork& work) const;
  Made Failed(const std::exception_ptr& error) const;
  void Plan(Planned* planned) const;
  void Join(std::unique_lock<std::mutex>* lock, Made* made) const;
  Made* NextToJoin();
  void Stop();
  void Gather();
  void Take();
  void ReportWindow();
  void GoOnFromEnded();
  void EndEpoch();
  int64_t batch_in_window() const { return position_.batch_in_epoch - position_.batches_before; }

  const BatchOptions options_;
  const bool in_parts_;
  DataPosition position_;
  CorpusReport ended_epoch_;
  std::unique_ptr<const Planned> current_;  // null before the first one and after an epoch's last

  std::mutex mutex_;
  std::condition_variable work_wake_;
  std::condition_variable made_wake_;
  std::unique_ptr<WindowReader> reader_;
  std::map<int64_t, Made> made_;  // by count since the start
  int64_t next_read_ = 0;
  int64_t next_out_ = 0;
  bool reading_ = false;
  bool read_failed_ = false;  // the reader has nothing more to give
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

BatchStream::Impl::Impl(const ExampleSource* source, const BatchOptions& options,
                        const DataPosition& position)
    : options_(options),
      in_parts_(source->in_parts() && options.peers.size > 1),
      position_(position) {
  if (options.limits.tokens < 1 || options.worker_threads < 1) {
    throw Error(ErrorKind::kConfiguration, "batch_tokens and worker_threads must be at least 1");
  }
  const WindowPart own = {options.peers.rank, options.peers.size};
  reader_ = source->Open(position.epoch, position.window, in_parts_ ? own : WindowPart{});
  try {
    for (int64_t i = 0; i < options.worker_threads; ++i) threads_.emplace_back([this] { Work(); });
  } catch (...) {
    Stop();
    throw;
  }
}

BatchStream::Impl::~Impl() { Stop(); }

void BatchStream::Impl::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void BatchStream::Impl::Work() {
  const auto may_read = [this] {
    return !reading_ && !read_failed_ && next_read_ < next_out_ + options_.worker_threads;
  };
  std::unique_lock lock(mutex_);
  while (true) {
    work_wake_.wait(lock, [&] { return stopping_ || NextToJoin() != nullptr || may_read(); });
    if (stopping_) return;
    if (Made* made = NextToJoin()) {
      Join(&lock, made);
    } else {
      const int64_t number = next_read_++;
      made_[number] = Make(&lock);
    }
    made_wake_.notify_all();
  }
}

// Reads with `lock` held by nobody but one worker at a time, makes with it free to all.
Made BatchStream::Impl::Make(std::unique_lock<std::mutex>* lock) {
  WindowWork work;
  std::exception_ptr error;
  reading_ = true;
  lock->unlock();
  try {
    work = reader_->Next();
  } catch (...) {
    error = std::current_exception();
  }
  lock->lock();
  reading_ = false;
  read_failed_ = error != nullptr;
  work_wake_.notify_all();
  lock->unlock();
  Made made = error ? Failed(error) : MakeFrom(work);
  lock->lock();
  return made;
}

// The window, or this peer's part.
Made BatchStream::Impl::MakeFrom(const WindowWork& work) const {
  Made made;
  made.planned = {work.epoch, work.start, work.last, {}, {}};
  try {
    if (in_parts_) {
      made.part = BytesOf(work.make());
      made.whole = false;
    } else {
      made.planned.window = work.make();
      Plan(&made.planned);
    }
  } catch (...) {
    return Failed(std::current_exception());
  }
  return made;
}

// What a peer can't make is its part, so that all peers throw it at the same batch.
Made BatchStream::Impl::Failed(const std::exception_ptr& error) const {
  Made made;
  if (in_parts_) {
    made.part = BytesOf(error);
    made.whole = false;
  } else {
    made.error = error;
  }
  return made;
}

void BatchStream::Impl::Plan(Planned* planned) const {
  planned->batches = ShuffledBatches(*planned->window.examples, options_.limits, options_.seed,
                                     planned->epoch, planned->start.number);
}

// A window for a worker to put together; null if there is none.
Made* BatchStream::Impl::NextToJoin() {
  const auto next = made_.find(next_out_);
  return next != made_.end() && next->second.parts ? &next->second : nullptr;
}

void BatchStream::Impl::Join(std::unique_lock<std::mutex>* lock, Made* made) const {
  Peers::Gathered parts = std::exchange(made->parts, nullptr);
  Made joined;
  joined.planned = std::move(made->planned);
  lock->unlock();
  try {
    joined.planned.window = JoinParts(std::exchange(parts, nullptr)());
    Plan(&joined.planned);
  } catch (...) {
    joined.error = std::current_exception();
  }
  lock->lock();
  *made = std::move(joined);
}

// Where peers make the next window together, begins to bring its parts together unless that has
// begun. All peers come here at the same batches.
void BatchStream::Impl::Gather() {
  if (!in_parts_) return;
  std::unique_lock lock(mutex_);
  made_wake_.wait(lock, [&] { return made_.contains(next_out_); });
  Made& made = made_.at(next_out_);
  if (made.part.empty()) return;
  lock.unlock();
  Peers::Gathered parts = options_.peers.begin_gather(made.part);
  lock.lock();
  made.part = std::string();
  made.parts = std::move(parts);
  work_wake_.notify_all();
}

// Waits for the next window and takes it.
void BatchStream::Impl::Take() {
  Gather();
  std::unique_ptr<const Planned> next;
  {
    std::unique_lock lock(mutex_);
    made_wake_.wait(lock, [&] {
      const auto made = made_.find(next_out_);
      return made != made_.end() && made->second.whole;
    });
    Made& made = made_.at(next_out_);
    if (made.error) std::rethrow_exception(made.error);
    next = std::make_unique<const Planned>(std::move(made.planned));
    made_.erase(next_out_++);
  }
  work_wake_.notify_all();
  if (current_ != nullptr) {
    position_.report.Add(current_->window.report);
    position_.batches_before = position_.batch_in_epoch;
  }
  current_ = std::move(next);
  position_.window = current_->start;
  if (batch_in_window() < 0 || batch_in_window() > std::ssize(current_->batches)) {
    throw Error(ErrorKind::kInput,
                fmt::format("the data position is at batch {} of a window of epoch {} that has {}; "
                            "the data or the batching changed",
                            batch_in_window(), position_.epoch, current_->batches.size()));
  }
  if (position_.epoch == 0 && batch_in_window() == 0) ReportWindow();
}

// An epoch may take days: what is wrong with the text is better known before it ends.
void BatchStream::Impl::ReportWindow() {
  const CorpusReport& report = current_->window.report;
  if (report.malformed.count > 0 && position_.report.malformed.count == 0) {
    options_.log(LogLevel::kWarning,
                 fmt::format("the text holds malformed UTF-8, which is read as U+FFFD, first in {}",
                             report.malformed.Text()));
  }
  const int64_t examples = current_->window.examples->size();
  if (examples >= 8 && examples == std::ssize(current_->batches) &&
      options_.limits.sentences != 1) {
    options_.log(LogLevel::kWarning,
                 fmt::format("every batch holds a single sentence: batch_tokens is {}, less than "
                             "two sentences take; 4096 is usual",
                             options_.limits.tokens));
  }
  if (report.lines > 0 && current_->start.number == 0 && !current_->last)
    options_.log(LogLevel::kInfo, fmt::format("text so far: {}", report.Text()));
}

// Goes on from windows that have no batch left. An epoch's end is known without the next one's
// first window.
void BatchStream::Impl::GoOnFromEnded() {
  while (current_ != nullptr && batch_in_window() == std::ssize(current_->batches)) {
    if (current_->last) {
      EndEpoch();
    } else {
      Take();
    }
  }
}

void BatchStream::Impl::EndEpoch() {
  CorpusReport report = position_.report;
  report.Add(current_->window.report);
  if (position_.batch_in_epoch == 0) {
    throw Error(ErrorKind::kInput,
                fmt::format("the training data holds no example, expected at least one: {}",
                            report.Text()));
  }
  if (report.lines > 0) {
    options_.log(LogLevel::kInfo,
                 fmt::format("text of epoch {}: {}", position_.epoch + 1, report.Text()));
  }
  ended_epoch_ = std::move(report);
  position_ = {position_.epoch + 1, 0, position_.sequence};
  current_.reset();
}

BatchStream::BatchStream(const ExampleSource* source, const BatchOptions& options,
                         const DataPosition& position)
    : impl_(std::make_unique<Impl>(source, options, position)) {}

BatchStream::~BatchStream() = default;

Batch BatchStream::Next() {
  Impl& impl = *impl_;
  do {
    if (impl.current_ == nullptr) impl.Take();
    impl.GoOnFromEnded();
  } while (impl.current_ == nullptr);
  DataPosition& position = impl.position_;
  Batch batch{position.epoch, position.sequence, impl.current_->window.examples,
              impl.current_->batches.at(impl.batch_in_window())};
  ++position.sequence;
  ++position.batch_in_epoch;
  try {
    if (4 * impl.batch_in_window() >= 3 * std::ssize(impl.current_->batches)) impl.Gather();
    impl.GoOnFromEnded();
  } catch (...) {
    // The next call meets the same error, at its batch. Peers must not go on without one of them:
    // what one meets alone ends it here, before it takes part in anything else.
    if (impl.in_parts_) throw;
  }
  return batch;
}

const DataPosition& BatchStream::position() const { return impl_->position_; }

const CorpusReport& BatchStream::ended_epoch() const { return impl_->ended_epoch_; }

}  // namespace attend
