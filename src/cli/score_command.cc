// `attend score`: log-probability of given translations.
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <iostream>

#include "attend/error.h"
#include "attend/scorer.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/line_windows.h"
#include "engine/tasks/translation_options.h"
#include "model/model_directory.h"

namespace attend {
namespace {

void PrintScore(const PairScore& score, bool alignments) {
  std::cout << fmt::format("{:.6f}", score.log_probability);
  if (alignments) std::cout << " |||";
  for (const AlignmentLink& link : score.alignment) {
    std::cout << ' ' << link.source << '-' << link.target;
  }
  std::cout << '\n';
}

}  // namespace

int RunScore(const std::vector<std::string>& arguments) {
  CommonOptions common;
  ScoreOptions options;
  std::string model, source, target;
  FieldList fields;
  fields.Add("model", &model, "the model directory")
      .Add("source", &source, "source text, a sentence a line; -: standard input")
      .Add("target", &target, "its translation, line by line; -: standard input")
      .Nest("", Fields(options));
  CommandLine command_line("score", "log-probability of given translations",
                           "attend score --model MODEL --source test.en --target test.de");
  command_line.Options(fields)
      .Options(Fields(common, {"threads", "quiet", "data_dir"}))
      .Required({"model", "source", "target"});
  if (!command_line.Parse(arguments)) return 0;
  const Scorer scorer(LoadModel(model), common.ThreadCount());
  LineWindows pairs({common.DataPath(source), common.DataPath(target)}, isatty(STDOUT_FILENO) == 1,
                    common.ThreadCount());
  double sum = 0;
  int64_t pieces = 0;
  while (pairs.Next()) {
    options.first_line = pairs.number();
    for (const PairScore& score : scorer.Score(pairs.lines(0), pairs.lines(1), options)) {
      PrintScore(score, options.alignments);
      sum += score.log_probability;
      pieces += std::ssize(score.token_log_probabilities);
    }
    std::cout.flush();
    if (!std::cout)
      throw Error(ErrorKind::kRuntime, "can't write to standard output; is the disk full?");
  }
  pairs.ReportMalformed(common.MakeLog());
  if (pieces > 0) {
    common.MakeLog()(LogLevel::kInfo,
                     fmt::format("perplexity {:.4f} a piece ({} pieces, eos counted)",
                                 std::exp(-sum / static_cast<double>(pieces)), pieces));
  }
  return 0;
}

}  // namespace attend
