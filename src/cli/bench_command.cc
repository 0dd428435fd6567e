// `attend bench`: a benchmark by name.
#include <fmt/format.h>

#include "attend/error.h"
#include "base/edit_distance.h"
#include "cli/bench/benchmarks.h"
#include "cli/command_line.h"
#include "cli/commands.h"

namespace attend {
namespace {

const std::vector<Command>& Benchmarks() {
  static const std::vector<Command> benchmarks = {
      {"translate", "", RunBenchTranslate}, {"generate", "", RunBenchGenerate},
      {"encode", "", RunBenchEncode},       {"transcribe", "", RunBenchTranscribe},
      {"train", "", RunBenchTrainLauncher}, {"layers", "", RunBenchLayersLauncher},
  };
  return benchmarks;
}

}  // namespace

int RunBench(const std::vector<std::string>& arguments) {
  const std::string first = arguments.empty() ? "" : arguments[0];
  std::vector<std::string> names;
  for (const Command& benchmark : Benchmarks()) {
    if (first == benchmark.name) return benchmark.run({arguments.begin() + 1, arguments.end()});
    names.emplace_back(benchmark.name);
  }
  std::string benchmark;
  CommandLine command_line("bench", "measure speed",
                           "attend bench translate --help\n"
                           "attend bench generate --preset gpt2-small --batch-size 1\n"
                           "attend bench encode --preset bert-base --type int8 --threads 2 --json\n"
                           "attend bench train --help\n"
                           "attend bench layers --kind lstm --json");
  command_line.Positional("BENCHMARK", &benchmark,
                          "what to measure, each with options of its own: translate, generate (a "
                          "language model), encode (texts, pictures or items to vectors), "
                          "transcribe, train or layers (of the paper's Table 1)");
  if ((first.empty() || first[0] != '-' || first == "-h" || first.starts_with("--help")) &&
      !command_line.Parse(arguments))
    return 0;
  throw Error(ErrorKind::kUsage,
              fmt::format("attend bench: unknown benchmark '{}', expected {} as the first "
                          "argument{}",
                          first, fmt::join(names, ", "), DidYouMean(first, names)));
}

}  // namespace attend
