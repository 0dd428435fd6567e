#include "serve/tasks/translation/background_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "attend/error.h"
#include "base/process.h"

namespace attend {
namespace {

constexpr int kNotStarted = 127;  // as a shell says it
constexpr int kLowestPriority = 19;

// Threads that wait in turns: spinning ones would take the processors from others.
std::vector<std::string> Environment() {
  std::vector<std::string> variables = EnvironmentWithout("OMP_WAIT_POLICY");
  variables.emplace_back("OMP_WAIT_POLICY=passive");
  return variables;
}

constexpr int kManyFiles = 65536;

// Connections that the service has open must not stay open in the program.
void CloseFiles() {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, 3U, ~0U, 0U) == 0) return;
#endif
  for (int file = 3; file < kManyFiles; ++file) close(file);
}

// In the child of a process of many threads: nothing here may allocate memory or take a lock.
[[noreturn]] void Become(pid_t parent, char** arguments, char** environment, int log) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kNotStarted);  // it died meanwhile
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  setpriority(PRIO_PROCESS, 0, kLowestPriority);
  const sched_param idle = {};
  sched_setscheduler(0, SCHED_IDLE, &idle);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  CloseFiles();
  execve(arguments[0], arguments, environment);
  _exit(kNotStarted);
}

}  // namespace

BackgroundProcess::BackgroundProcess(const std::vector<std::string>& arguments,
                                     const std::filesystem::path& log) {
  std::vector<std::string> texts = arguments, variables = Environment();
  std::vector<char*> pointers = Pointers(texts), environment = Pointers(variables);
  const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  const pid_t parent = getpid();
  if (file >= 0) id_ = fork();
  const int reason = errno;
  if (id_ == 0) Become(parent, pointers.data(), environment.data(), file);
  if (file >= 0) close(file);
  if (id_ > 0) return;
  throw Error(ErrorKind::kRuntime, fmt::format("can't start '{}' with its log in '{}': {}",
                                               arguments[0], log.string(), std::strerror(reason)));
}

BackgroundProcess::~BackgroundProcess() {
  if (Status()) return;
  kill(id_, SIGKILL);
  AwaitEnd(id_);
}

std::optional<int> BackgroundProcess::Status() {
  int status = 0;
  if (!status_ && waitpid(id_, &status, WNOHANG) == id_)
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return status_;
}

}  // namespace attend
