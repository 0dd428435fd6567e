// Documents of other programs, which processes of the Python package read and write: which formats
// there are, and the threads that wait for these processes.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_DOCUMENTS_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_DOCUMENTS_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/json.h"
#include "serve/serve_options.h"
#include "serve/tasks/translation/document_process.h"

namespace attend {

// Safe to use from many threads.
class ServedDocuments {
 public:
  explicit ServedDocuments(const ServeOptions& options);
  ~ServedDocuments() { Close(); }

  // Calls `call`, which must not throw, once it is known which formats can be read: at once, or
  // from a thread of its own after the first call of all, which starts Python. What failed is tried
  // again a minute later. False: too many wait already, and it will not be called.
  bool WhenKnown(std::function<void()> call);
  // Endings of the formats that can be read; of all, until it is known.
  std::vector<std::string> Usable() const;
  // Throws Refusal 501, which says what to install, for another ending.
  void Check(const std::string& suffix) const;

  // Runs `work`, which must not throw, on a thread of its own. False: there are too many, or none
  // any more.
  bool TryRun(std::function<void()> work);
  // A process for a document, which ends once `wanted` says no, or Close is called.
  DocumentProcess Start(const std::function<bool()>& wanted) const;
  // Ends all processes and threads.
  void Close();
  bool closed() const;

 private:
  using Clock = std::chrono::steady_clock;
  void Find();
  // On a thread of its own, of which there are at most so many.
  bool Run(int64_t* threads, int64_t most, std::function<void()> work);

  const bool off_;
  const int64_t most_;
  const DocumentLimits limits_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  bool asked_ = false, known_ = false, closed_ = false;
  std::vector<std::function<void()>> waiting_;  // for what is not known yet
  Json formats_ = Json::object();               // as DocumentProcess::Formats
  std::string why_not_;                         // of all formats
  Clock::time_point found_;                     // when it was known
  int64_t running_ = 0, finding_ = 0;           // threads
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_DOCUMENTS_H_
