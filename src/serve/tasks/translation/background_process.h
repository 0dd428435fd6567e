// A program that runs beside the service and leaves it the processors.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_BACKGROUND_PROCESS_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_BACKGROUND_PROCESS_H_

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace attend {

// One owner, on one thread: the program is killed when that thread ends, however the service ends.
class BackgroundProcess {
 public:
  // Starts `arguments[0]` at the lowest priority (SCHED_IDLE, nice 19); both its outputs go to the
  // file `log`. Throws Error(kRuntime) where it can't be started.
  BackgroundProcess(const std::vector<std::string>& arguments, const std::filesystem::path& log);
  // Kills it where it still runs.
  ~BackgroundProcess();
  BackgroundProcess(const BackgroundProcess&) = delete;
  BackgroundProcess& operator=(const BackgroundProcess&) = delete;

  // Its exit status (128 + the number of a signal that ended it) where it has ended.
  std::optional<int> Status();

 private:
  pid_t id_ = -1;
  std::optional<int> status_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_BACKGROUND_PROCESS_H_
