#include "cli/python_package.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "attend/error.h"

namespace attend {
namespace {

std::vector<char*> Pointers(std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The package as a build has it, beside the program, comes before an installed one.
void SetEnvironment() {
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  setenv("ATTEND_PROGRAM", program.c_str(), /*overwrite=*/0);
  const std::filesystem::path package = program.parent_path() / "python";
  if (!std::filesystem::is_directory(package / "attend")) return;
  const char* given = std::getenv("PYTHONPATH");
  const std::string rest = given == nullptr || *given == '\0' ? "" : fmt::format(":{}", given);
  setenv("PYTHONPATH", (package.string() + rest).c_str(), /*overwrite=*/1);
}

// Whether this Python has the package.
bool HasPackage(const std::string& python) {
  std::vector<std::string> arguments = {python, "-c", "import attend.convert"};
  posix_spawn_file_actions_t silent;
  posix_spawn_file_actions_init(&silent);
  posix_spawn_file_actions_addopen(&silent, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, python.c_str(), &silent, nullptr, Pointers(arguments).data(), environ);
  posix_spawn_file_actions_destroy(&silent);
  int status = 0;
  return failed == 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

}  // namespace

void RunInPython(const std::string& command, const std::string& module,
                 const std::vector<std::string>& arguments) {
  SetEnvironment();
  const char* given = std::getenv("ATTEND_PYTHON");
  const std::string python = given == nullptr ? "python3" : given;
  if (!HasPackage(python)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("attend {} needs the Python package, which '{}' has not; pip install "
                            "it, or name a Python that has it in ATTEND_PYTHON",
                            command, python));
  }
  std::vector<std::string> call = {python, "-m", module};
  call.insert(call.end(), arguments.begin(), arguments.end());
  execvp(python.c_str(), Pointers(call).data());
  throw Error(ErrorKind::kRuntime,
              fmt::format("can't start '{}': {}", python, std::strerror(errno)));
}

}  // namespace attend
