// Translated files until their clients have fetched them.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_TRANSLATED_FILES_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_TRANSLATED_FILES_H_

#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

namespace attend {

// Safe to use from many threads. In memory: each file for ten minutes, all together 64 MiB, the
// oldest going first.
class TranslatedFiles {
 public:
  using Clock = std::chrono::steady_clock;

  // Returns the file's name, which nobody can guess; it ends in `suffix`.
  std::string Put(std::string content, const std::string& suffix, Clock::time_point now);
  std::optional<std::string> Get(const std::string& name, Clock::time_point now);

 private:
  struct File {
    std::string name, content;
    Clock::time_point end;
  };
  void Forget(Clock::time_point now);

  std::mutex mutex_;
  std::deque<File> files_;  // the oldest first
  size_t bytes_ = 0;
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_TRANSLATED_FILES_H_
