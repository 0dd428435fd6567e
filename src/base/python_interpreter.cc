#include "base/python_interpreter.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/process.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

// The folder of the program, and whether a build put the package with its module beside it: a
// build without the module may have the Python files alone.
struct Place {
  fs::path program = OwnProgram();
  fs::path folder = program.parent_path();
  bool has_package = false;

  Place() {
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder / "python/attend", none))
      has_package |= entry.path().extension() == ".so";
  }
};

std::string ValueOf(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// What a build has comes before an installed package, and the package starts this program.
std::vector<std::string> EnvironmentFor(const Place& place) {
  std::vector<std::string> environment = EnvironmentWithout(place.has_package ? "PYTHONPATH" : "");
  if (std::getenv("ATTEND_PROGRAM") == nullptr)
    environment.push_back("ATTEND_PROGRAM=" + place.program.string());
  if (place.has_package) {
    const std::string given = ValueOf("PYTHONPATH");
    environment.push_back(fmt::format("PYTHONPATH={}{}{}", (place.folder / "python").string(),
                                      given.empty() ? "" : ":", given));
  }
  return environment;
}

std::string ProgramFor(const Place& place) {
  if (const std::string given = ValueOf("ATTEND_PYTHON"); !given.empty()) return given;
  const fs::path built_for = place.folder.parent_path() / ".venv/bin/python";
  const fs::path beside = place.folder / "python3";
  std::error_code none;
  if (place.has_package && fs::exists(built_for, none)) return built_for.string();
  return fs::exists(beside, none) ? beside.string() : "python3";
}

}  // namespace

PythonInterpreter FindPython() {
  const Place place;
  return {ProgramFor(place), EnvironmentFor(place)};
}

std::vector<std::string> CallOf(const PythonInterpreter& python, const std::string& code) {
  constexpr const char* kWithoutWorkingDirectory =
      "import sys; sys.path[:] = [path for path in sys.path if path]; ";
  return {python.program, "-c", kWithoutWorkingDirectory + code};
}

}  // namespace attend
