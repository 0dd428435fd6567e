// `attend import`: starts attend.convert of the Python package, which reads what other toolkits
// write.
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
#include "cli/command_line.h"
#include "cli/commands.h"

namespace attend {
namespace {

struct ImportOptions {
  std::string output, source_language, target_language;
  bool verify = false;
};

FieldList Fields(ImportOptions& options) {
  FieldList fields;
  fields.Add("output", &options.output, "model directory to write")
      .Add("source_language", &options.source_language,
           "what a model of several languages is to translate from, as the model names it")
      .Add("target_language", &options.target_language, "what it is to translate to")
      .Add("verify", &options.verify,
           "compare the model's samples with the program that it comes from, where that is "
           "installed");
  return fields;
}

std::vector<char*> Pointers(std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The package as a build has it, beside the program, comes before an installed one.
void AddToPythonPath() {
  const std::filesystem::path package =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "python";
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

int RunImport(const std::vector<std::string>& arguments) {
  CommonOptions common;
  ImportOptions options;
  std::string source;
  CommandLine command_line("import", "make a model directory from a model of another toolkit",
                           "attend import opus-mt-en-de --output en-de\n"
                           "attend import opus-mt-en-de --output en-de --verify\n"
                           "attend import model.npz --output en-de\n"
                           "attend import m2m100 --output en-fr --source-language en "
                           "--target-language fr");
  command_line.Positional("SOURCE", &source, "the model's folder or file")
      .Options(Fields(options))
      .Options(Fields(common, {"quiet"}))
      .Required({"output"});
  if (!command_line.Parse(arguments)) return 0;
  AddToPythonPath();
  const char* given = std::getenv("ATTEND_PYTHON");
  const std::string python = given == nullptr ? "python3" : given;
  if (!HasPackage(python)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("attend import needs the Python package, which '{}' has not; pip "
                            "install it, or name a Python that has it in ATTEND_PYTHON",
                            python));
  }
  std::vector<std::string> call = {python, "-m",       "attend.convert",
                                   source, "--output", options.output};
  for (const auto& [name, language] :
       {std::pair{"source", options.source_language}, std::pair{"target", options.target_language}})
    if (!language.empty()) call.push_back(fmt::format("--{}-language={}", name, language));
  if (options.verify) call.emplace_back("--verify");
  if (common.quiet) call.emplace_back("--quiet");
  execvp(python.c_str(), Pointers(call).data());
  throw Error(ErrorKind::kRuntime,
              fmt::format("can't start '{}': {}", python, std::strerror(errno)));
}

}  // namespace attend
