// The commands that attend-train runs, in the program without LibTorch.
#include "cli/train_launcher.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "attend/error.h"
#include "base/process.h"
#include "cli/bench/benchmarks.h"
#include "cli/commands.h"
#include "cli/score_command.h"
#include "cli/translate_command.h"
#include "cli/verify_command.h"

namespace attend {

void StartAttendTrain(const std::string& command, const std::vector<std::string>& arguments) {
  const std::filesystem::path program = OwnProgram().parent_path() / "attend-train";
  std::string path = program.string(), name = command;
  std::vector<std::string> copies = arguments;
  std::vector<char*> argv{path.data(), name.data()};
  for (std::string& argument : copies) argv.push_back(argument.data());
  argv.push_back(nullptr);
  // Threads that wait in turns: spinning ones lose a factor of thirty where threads outnumber free
  // cores.
  setenv("OMP_WAIT_POLICY", "passive", /*overwrite=*/0);
  // Blocked signals would stay so in the other program, which then can't be ended by them.
  sigset_t none, before;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, &before);
  execv(program.c_str(), argv.data());
  const int reason = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (reason != ENOENT)
    throw Error(ErrorKind::kRuntime,
                fmt::format("can't start '{}': {}", program.string(), std::strerror(reason)));
  throw Error(ErrorKind::kUsage,
              fmt::format("attend {} needs the program attend-train, which is not at '{}'; install "
                          "the package attend-train, as docs/installing.md says, or build both "
                          "programs with `make build`",
                          command, program.string()));
}

int RunBenchTrainLauncher(const std::vector<std::string>& arguments) {
  StartAttendTrain("bench", arguments);
}
int RunBenchLayersLauncher(const std::vector<std::string>& arguments) {
  StartAttendTrain("bench-layers", arguments);
}
int RunTranslate(const std::vector<std::string>& arguments) {
  return Translate(arguments, [&](const auto&, const auto&) -> std::shared_ptr<const LoadedModel> {
    StartAttendTrain("translate", arguments);
  });
}
int RunScore(const std::vector<std::string>& arguments) {
  return Score(arguments, [&](const auto&, const auto&) -> std::shared_ptr<const LoadedModel> {
    StartAttendTrain("score", arguments);
  });
}
int RunVerify(const std::vector<std::string>& arguments) {
  return Verify(arguments, [&](const auto&, auto) -> std::vector<std::vector<double>> {
    StartAttendTrain("verify", arguments);
  });
}
int RunTrainLauncher(const std::vector<std::string>& arguments) {
  StartAttendTrain("train", arguments);
}

}  // namespace attend
