// What every program of attend does around a command: help, version, errors, exit status.
#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sodium.h>
#include <spdlog/version.h>
#include <unicode/uversion.h>

#include <boost/version.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>

#include "attend/error.h"
#include "attend_version.h"
#include "base/edit_distance.h"
#include "base/failure.h"
#include "cli/command_line.h"
#include "kernels/inference/dispatch.h"

namespace attend {
namespace {

int ExitStatus(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
    case ErrorKind::kConfiguration:
      return 2;
    case ErrorKind::kInput:
      return 3;
    default:
      return 1;
  }
}

void PrintHelp(const std::vector<Command>& commands) {
  std::cout
      << "attend: trains, shrinks and serves the Transformer of \"Attention Is All You Need\"\n\n"
         "usage: attend COMMAND [OPTION ...]\n\ncommands:\n";
  for (const Command& command : commands) {
    std::cout << fmt::format("  {:<10} {}\n", command.name, command.summary);
  }
  std::cout << "\nattend COMMAND --help says more of each, with an example.\n"
               "attend --version names the commit, the libraries and the instruction sets; the "
               "environment's\nATTEND_ISA chooses another one than the best of the machine.\n";
}

void PrintVersion(const std::string& more_libraries) {
  std::cout << fmt::format(
      "attend {}\nlibraries: fmt {}.{}.{}, spdlog {}.{}.{}, nlohmann-json {}.{}.{}, ICU {}, "
      "libsodium {}, "
      "SentencePiece 0.2.1{}\n"
      "instruction sets: {} (active: {})\n",
      ProgramVersion(), FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100,
      SPDLOG_VER_MAJOR, SPDLOG_VER_MINOR, SPDLOG_VER_PATCH, NLOHMANN_JSON_VERSION_MAJOR,
      NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH, U_ICU_VERSION,
      sodium_version_string(), more_libraries, fmt::join(AvailableInstructionSets(), ", "),
      SelectKernels().name);
}

bool IsHelp(const std::string& argument) {
  return argument == "--help" || argument == "-h" || argument == "help";
}

int RunCommand(const std::vector<Command>& commands, const std::vector<std::string>& arguments) {
  const std::string& name = arguments[0];
  std::vector<std::string> names;
  for (const Command& command : commands) {
    if (name == command.name) return command.run({arguments.begin() + 1, arguments.end()});
    names.push_back(command.name);
  }
  const bool option = name.starts_with('-');
  if (option) names = {"--help", "--version"};
  throw Error(ErrorKind::kUsage,
              fmt::format("unknown {} '{}'{}; attend --help lists them",
                          option ? "option" : "command", name, DidYouMean(name, names)));
}

// One line: LibTorch's messages go on with a stack trace. A message that names its command needs no
// other name before it.
int Fail(const std::string& message, int status) {
  std::cout.flush();
  std::fputs(
      fmt::format("{}{}\n", message.starts_with("attend ") ? "" : "attend: ", message).c_str(),
      stderr);
  return status;
}

}  // namespace

std::string ProgramVersion() { return fmt::format("{} ({})", ATTEND_VERSION, ATTEND_COMMIT); }

int RunProgram(const std::vector<Command>& commands, int argc, char** argv,
               const std::string& more_libraries) {
  std::signal(SIGPIPE, SIG_DFL);  // a reader that has seen enough ends us quietly
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow any more is an error of its writer
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  try {
    int status = 0;
    if (arguments.empty()) {
      PrintHelp(commands);
      status = 2;
    } else if (IsHelp(arguments[0]) && arguments.size() > 1) {
      std::vector<std::string> command(arguments.begin() + 1, arguments.end());
      command.emplace_back("--help");
      status = RunCommand(commands, command);
    } else if (IsHelp(arguments[0])) {
      PrintHelp(commands);
    } else if (arguments[0] == "--version") {
      PrintVersion(more_libraries);
    } else {
      status = RunCommand(commands, arguments);
    }
    FlushOutput();
    return status;
  } catch (const Error& error) {
    return Fail(MessageOf(error), ExitStatus(error.kind()));
  } catch (const std::exception& error) {
    return Fail(MessageOf(error), 1);
  }
}

}  // namespace attend
