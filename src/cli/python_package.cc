#include "cli/python_package.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "attend/error.h"
#include "base/process.h"
#include "base/python_interpreter.h"

namespace attend {
namespace {

// The part of the package that a module is in: "convert" of "attend.convert.export_command".
std::string PackagePart(const std::string& module) {
  const size_t begin = module.find('.') + 1;
  return module.substr(begin, module.find('.', begin) - begin);
}

// Why this Python can't use a part of the package: the last line of its errors; empty: it can.
std::string WhyUnusable(PythonInterpreter python, const std::string& part) {
  std::vector<std::string> arguments = CallOf(python, fmt::format("import attend.{}", part));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::strerror(errno);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, python.program.c_str(), &actions, nullptr,
                                  Pointers(arguments).data(), Pointers(python.environment).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string errors;
  char bytes[4096];
  for (ssize_t count; (count = read(ends[0], bytes, sizeof bytes)) > 0;)
    errors.append(bytes, count);
  close(ends[0]);
  if (failed != 0) return std::strerror(failed);
  int status = 0;
  if (waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return "";
  while (errors.ends_with('\n')) errors.pop_back();
  errors.erase(0, errors.rfind('\n') + 1);
  return errors.empty() ? "it ends with an error" : errors;
}

}  // namespace

void RunInPython(const std::string& command, const std::string& module, const Json& options) {
  PythonInterpreter python = FindPython();
  const std::string part = PackagePart(module);
  if (const std::string reason = WhyUnusable(python, part); !reason.empty()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("attend {} needs the Python package, which '{}' can't use ({}); pip "
                            "install '.[{}]' in attend's source folder, or name a Python that "
                            "has it in ATTEND_PYTHON",
                            command, python.program, reason, part));
  }
  // Ctrl-C ends what comes before the module's own words for it, too.
  const std::string code = fmt::format(
      "import signal; signal.signal(signal.SIGINT, signal.SIG_DFL); import runpy; "
      "runpy.run_module('{}', run_name='__main__', alter_sys=True)",
      module);
  std::vector<std::string> call = CallOf(python, code);
  call.push_back(Dump(options));
  execvpe(python.program.c_str(), Pointers(call).data(), Pointers(python.environment).data());
  throw Error(ErrorKind::kRuntime,
              fmt::format("can't start '{}': {}", python.program, std::strerror(errno)));
}

}  // namespace attend
