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
#include "model/model_directory.h"
#include "tasks/translation/translation_options.h"

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

Json ToJson(const PairScore& score, bool alignments) {
  Json pair = {{"log_probability", score.log_probability}};
  if (!alignments) return pair;
  pair["alignment"] = Json::array();
  for (const AlignmentLink& link : score.alignment)
    pair["alignment"].push_back({link.source, link.target});
  return pair;
}

// Of all pairs.
struct ScoreTotal {
  double log_probability = 0;
  int64_t pieces = 0;  // eos counted

  void Add(const PairScore& score) {
    log_probability += score.log_probability;
    pieces += std::ssize(score.token_log_probabilities);
  }
  double Perplexity() const { return std::exp(-log_probability / static_cast<double>(pieces)); }
};

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
                           "attend score --model MODEL --source test.en --target test.de\n"
                           "attend score --model MODEL --source test.en --target test.de --json");
  command_line.Options(fields)
      .Options(Fields(common, {"threads", "quiet", "json", "data_dir"}))
      .Required({"model", "source", "target"});
  if (!command_line.Parse(arguments)) return 0;
  const Scorer scorer(LoadModel(model), common.ThreadCount());
  LineWindows pairs({common.DataPath(source), common.DataPath(target)}, isatty(STDOUT_FILENO) == 1,
                    common.ThreadCount());
  ScoreTotal total;
  Json scored = Json::array();  // with --json, which prints them at the end
  while (pairs.Next()) {
    options.first_line = pairs.number();
    for (const PairScore& score : scorer.Score(pairs.lines(0), pairs.lines(1), options)) {
      total.Add(score);
      if (common.json) {
        scored.push_back(ToJson(score, options.alignments));
      } else {
        PrintScore(score, options.alignments);
      }
    }
    std::cout.flush();
    if (!std::cout)
      throw Error(ErrorKind::kRuntime, "can't write to standard output; is the disk full?");
  }
  pairs.ReportMalformed(common.MakeLog());
  const Json perplexity = total.pieces > 0 ? Json(total.Perplexity()) : Json();
  if (total.pieces > 0 && !common.json) {
    common.MakeLog()(LogLevel::kInfo, fmt::format("perplexity {:.4f} a token ({} tokens, eos "
                                                  "counted)",
                                                  total.Perplexity(), total.pieces));
  }
  PrintReport(common, {{"pairs", scored}, {"pieces", total.pieces}, {"perplexity", perplexity}});
  return 0;
}

}  // namespace attend
