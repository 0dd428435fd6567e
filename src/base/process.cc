#include "base/process.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "attend/error.h"

namespace attend {

std::filesystem::path OwnProgram() {
  std::error_code error;
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) return program;
  throw Error(ErrorKind::kRuntime,
              fmt::format("can't tell where this program stands: '/proc/self/exe': {}; is /proc "
                          "mounted?",
                          error.message()));
}

std::vector<std::string> EnvironmentWithout(std::string_view name) {
  const std::string left_out = std::string(name) + "=";
  std::vector<std::string> variables;
  for (char** each = environ; *each != nullptr; ++each) {
    if (!std::string_view(*each).starts_with(left_out)) variables.emplace_back(*each);
  }
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

int AwaitEnd(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace attend
