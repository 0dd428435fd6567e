#include "serve/tasks/translation/documents.h"

#include <fmt/format.h>

#include <exception>
#include <thread>
#include <utility>

#include "base/python_interpreter.h"
#include "serve/refusal.h"
#include "serve/tasks/translation/document_folder.h"
#include "serve/tasks/translation/file_check.h"

namespace attend {
namespace {

constexpr size_t kMostWaiting = 64;            // each may hold a document
constexpr std::chrono::seconds kPatience{20};  // for a Python that says nothing
constexpr std::chrono::minutes kPause{1};      // before what failed is tried again

}  // namespace

ServedDocuments::ServedDocuments(const ServeOptions& options)
    : off_(options.documents == DocumentUse::kOff),
      most_(options.document_count),
      limits_({.memory_bytes = options.document_memory << 20}) {
  known_ = off_;
  if (off_) {
    why_not_ = "this server runs with --documents off";
  } else {
    RemoveLeftFolders();
  }
}

bool ServedDocuments::WhenKnown(std::function<void()> call) {
  bool known = false;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return true;
    const bool failed = known_ && !off_ && !why_not_.empty();
    if (failed && Clock::now() > found_ + kPause) known_ = asked_ = false;
    known = known_;
    if (!known && waiting_.size() >= kMostWaiting) return false;
    if (!known) waiting_.push_back(call);
    if (!known && std::exchange(asked_, true)) return true;
  }
  if (known) {
    call();
  } else {
    Run(&finding_, 1, [this] { Find(); });
  }
  return true;
}

void ServedDocuments::Find() {
  Json formats = Json::object();
  std::string why_not;
  std::string program = "python3";
  const Clock::time_point end = Clock::now() + kPatience;
  try {
    program = FindPython().program;
    formats = Start([end] { return Clock::now() < end; }).Formats();
  } catch (const std::exception& error) {
    why_not = fmt::format(
        "documents need the Python package, which '{}' can't use on this server ({}); pip install "
        "'.[documents]' in attend's source folder, or name a Python that has it in ATTEND_PYTHON, "
        "and start the server again",
        program,
        Clock::now() < end ? error.what()
                           : fmt::format("it says nothing for {} s", kPatience.count()));
  }
  std::vector<std::function<void()>> waiting;
  {
    const std::lock_guard lock(mutex_);
    formats_ = std::move(formats);
    why_not_ = std::move(why_not);
    known_ = true;
    found_ = Clock::now();
    waiting.swap(waiting_);
    if (closed_) waiting.clear();
  }
  for (const auto& call : waiting) call();
}

std::vector<std::string> ServedDocuments::Usable() const {
  std::vector<std::string> usable;
  const std::lock_guard lock(mutex_);
  if (!known_) return DocumentSuffixes();
  for (const std::string& suffix : DocumentSuffixes()) {
    if (formats_.value(suffix, "none").empty()) usable.push_back(suffix);
  }
  return usable;
}

void ServedDocuments::Check(const std::string& suffix) const {
  const std::lock_guard lock(mutex_);
  if (!why_not_.empty()) throw Refusal(501, why_not_);
  const std::string why_not = formats_.value(suffix, "the Python package is of another version");
  if (!why_not.empty()) throw Refusal(501, fmt::format("{}, on this server", why_not));
}

bool ServedDocuments::TryRun(std::function<void()> work) {
  return Run(&running_, most_, std::move(work));
}

bool ServedDocuments::Run(int64_t* threads, int64_t most, std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  if (closed_ || *threads >= most) return false;
  std::thread([this, threads, work = std::move(work)]() mutable {
    work();
    work = nullptr;  // what it holds goes before its end is told
    const std::lock_guard ending(mutex_);
    --*threads;
    ended_.notify_all();
  }).detach();
  ++*threads;
  return true;
}

DocumentProcess ServedDocuments::Start(const std::function<bool()>& wanted) const {
  return DocumentProcess(FindPython(), limits_, [this, wanted] { return !closed() && wanted(); });
}

bool ServedDocuments::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

void ServedDocuments::Close() {
  std::vector<std::function<void()>> dropped;  // destroyed without the lock
  std::unique_lock lock(mutex_);
  closed_ = true;
  waiting_.swap(dropped);
  ended_.wait(lock, [this] { return running_ + finding_ == 0; });
}

}  // namespace attend
