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
#include <system_error>

#include "attend/error.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

std::vector<char*> Pointers(std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The folder of the program, and whether a build put the package with its module beside it: a
// build without the module may have the Python files alone.
struct Place {
  fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  bool has_package = false;

  Place() {
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder / "python/attend", none))
      has_package |= entry.path().extension() == ".so";
  }
};

// What a build has comes before an installed package, and the package starts this program.
void SetEnvironment(const Place& place) {
  setenv("ATTEND_PROGRAM", fs::read_symlink("/proc/self/exe").c_str(), /*overwrite=*/0);
  if (!place.has_package) return;
  const char* given = std::getenv("PYTHONPATH");
  const std::string rest = given == nullptr || *given == '\0' ? "" : fmt::format(":{}", given);
  setenv("PYTHONPATH", ((place.folder / "python").string() + rest).c_str(), /*overwrite=*/1);
}

// ATTEND_PYTHON, or the Python that the module beside the program was built for, or the one that
// was installed with the program, or any.
std::string ChoosePython(const Place& place) {
  const char* given = std::getenv("ATTEND_PYTHON");
  if (given != nullptr && *given != '\0') return given;
  const fs::path built_for = place.folder.parent_path() / ".venv/bin/python";
  const fs::path beside = place.folder / "python3";
  std::error_code none;
  if (place.has_package && fs::exists(built_for, none)) return built_for.string();
  return fs::exists(beside, none) ? beside.string() : "python3";
}

// The part of the package that a module is in: "convert" of "attend.convert.export_command".
std::string PackagePart(const std::string& module) {
  const size_t begin = module.find('.') + 1;
  return module.substr(begin, module.find('.', begin) - begin);
}

// Why this Python can't use a part of the package: the last line of its errors; empty: it can.
std::string WhyUnusable(const std::string& python, const std::string& part) {
  std::vector<std::string> arguments = {python, "-c", fmt::format("import attend.{}", part)};
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::strerror(errno);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, python.c_str(), &actions, nullptr, Pointers(arguments).data(), environ);
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
  const Place place;
  SetEnvironment(place);
  const std::string python = ChoosePython(place);
  const std::string part = PackagePart(module);
  if (const std::string reason = WhyUnusable(python, part); !reason.empty()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("attend {} needs the Python package, which '{}' can't use ({}); pip "
                            "install '.[{}]' in attend's source folder, or name a Python that "
                            "has it in ATTEND_PYTHON",
                            command, python, reason, part));
  }
  // Ctrl-C ends what comes before the module's own words for it, too.
  const std::string code = fmt::format(
      "import signal; signal.signal(signal.SIGINT, signal.SIG_DFL); import runpy; "
      "runpy.run_module('{}', run_name='__main__', alter_sys=True)",
      module);
  std::vector<std::string> call = {python, "-c", code, Dump(options)};
  execvp(python.c_str(), Pointers(call).data());
  throw Error(ErrorKind::kRuntime,
              fmt::format("can't start '{}': {}", python, std::strerror(errno)));
}

}  // namespace attend
