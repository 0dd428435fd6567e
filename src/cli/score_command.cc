// `attend score`: log-probability of given translations, or of texts by a language model.
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <iostream>
#include <numbers>

#include "attend/error.h"
#include "attend/generator.h"
#include "attend/scorer.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/line_windows.h"
#include "model/model_directory.h"
#include "tasks/language_model/generation_options.h"
#include "tasks/task_names.h"
#include "tasks/translation/translation_options.h"
#include "text/lines.h"
#include "text/utf8.h"

namespace attend {
namespace {

struct ScoreCommandOptions {
  std::string model, source, target, input;
  ScoreOptions pairs;
  TextScoreOptions texts;
};

FieldList Fields(ScoreCommandOptions& options) {
  FieldList fields;
  fields.Add("model", &options.model, "the model directory")
      .Add("source", &options.source, "source text, a sentence a line; -: standard input")
      .Add("target", &options.target, "its translation, line by line; -: standard input")
      .Nest("", Fields(options.pairs))
      .Add("input", &options.input,
           "text for a language model to score, line by line; -: standard input")
      .Nest("", Fields(options.texts).Select({"window", "stride", "end"}));
  return fields;
}

// Options that the model's task leaves unused, and those that it needs.
void CheckGiven(const CommandLine& command_line, bool language_model) {
  using Names = std::vector<std::string>;
  const Names for_pairs = {"source", "target", "alignments", "alignment_layer"},
              for_texts = {"input", "window", "stride", "end"};
  for (const std::string& name : language_model ? for_pairs : for_texts) {
    if (!command_line.IsSet(name)) continue;
    throw Error(ErrorKind::kUsage,
                fmt::format("attend score: {} is not for this model, whose task is {}; give {}",
                            name, language_model ? "language_model" : "translation",
                            language_model ? "--input" : "--source and --target"));
  }
  for (const std::string& name : language_model ? Names{"input"} : Names{"source", "target"}) {
    if (command_line.IsSet(name)) continue;
    throw Error(ErrorKind::kUsage,
                fmt::format("attend score: --{} is missing; the model's task is {}", name,
                            language_model ? "language_model" : "translation"));
  }
}

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

// Of all lines.
struct ScoreTotal {
  double log_probability = 0;
  int64_t tokens = 0, words = 0, characters = 0;  // ends counted

  // Null of nothing.
  Json Perplexity(int64_t count) const {
    if (count == 0) return {};
    return std::exp(-log_probability / static_cast<double>(count));
  }
  Json BitsACharacter() const {
    if (characters == 0) return {};
    return -log_probability / std::numbers::ln2 / static_cast<double>(characters);
  }
};

void ScorePairs(const std::shared_ptr<const Model>& model, ScoreOptions options,
                const ScoreCommandOptions& files, const CommonOptions& common) {
  const Scorer scorer(model, common.ThreadCount());
  LineWindows pairs({common.DataPath(files.source), common.DataPath(files.target)},
                    isatty(STDOUT_FILENO) == 1, common.ThreadCount());
  ScoreTotal total;
  Json scored = Json::array();  // with --json, which prints them at the end
  while (pairs.Next()) {
    options.first_line = pairs.number();
    for (const PairScore& score : scorer.Score(pairs.lines(0), pairs.lines(1), options)) {
      total.log_probability += score.log_probability;
      total.tokens += std::ssize(score.token_log_probabilities);
      if (common.json) {
        scored.push_back(ToJson(score, options.alignments));
      } else {
        PrintScore(score, options.alignments);
      }
    }
    FlushOutput();
  }
  pairs.ReportMalformed(common.MakeLog());
  const Json perplexity = total.Perplexity(total.tokens);
  if (total.tokens > 0 && !common.json) {
    common.MakeLog()(LogLevel::kInfo,
                     fmt::format("perplexity {:.4f} a token ({} tokens, eos counted)",
                                 perplexity.get<double>(), total.tokens));
  }
  PrintReport(common, {{"pairs", scored}, {"pieces", total.tokens}, {"perplexity", perplexity}});
}

void Report(const ScoreTotal& total, const Json& scored, const CommonOptions& common) {
  const Json report = {{"texts", scored},
                       {"tokens", total.tokens},
                       {"words", total.words},
                       {"characters", total.characters},
                       {"perplexity", total.Perplexity(total.tokens)},
                       {"word_perplexity", total.Perplexity(total.words)},
                       {"bits_per_character", total.BitsACharacter()}};
  if (total.tokens > 0 && total.words > 0 && !common.json) {
    common.MakeLog()(
        LogLevel::kInfo,
        fmt::format("perplexity {:.4f} a token ({} tokens), {:.4f} a word ({} words); {:.4f} bits "
                    "a character ({} characters)",
                    report["perplexity"].get<double>(), total.tokens,
                    report["word_perplexity"].get<double>(), total.words,
                    report["bits_per_character"].get<double>(), total.characters));
  }
  PrintReport(common, report);
}

void ScoreLines(const std::shared_ptr<const Model>& model, const TextScoreOptions& options,
                const std::string& input, const CommonOptions& common) {
  const Generator generator(model, {.threads = common.ThreadCount()});
  LineWindows lines({common.DataPath(input)}, isatty(STDOUT_FILENO) == 1, common.ThreadCount());
  ScoreTotal total;
  Json scored = Json::array();
  while (lines.Next()) {
    const std::vector<TextScore> scores = generator.Score(lines.lines(), options);
    for (size_t i = 0; i < scores.size(); ++i) {
      const std::string& line = lines.lines()[i];
      total.log_probability += scores[i].log_probability;
      total.tokens += std::ssize(scores[i].token_log_probabilities);
      total.words += CountWords(line) + (options.end ? 1 : 0);
      total.characters += CountCodePoints(line) + (options.end ? 1 : 0);
      if (common.json) {
        scored.push_back({{"log_probability", scores[i].log_probability},
                          {"tokens", scores[i].token_log_probabilities.size()}});
      } else {
        std::cout << fmt::format("{:.6f}\n", scores[i].log_probability);
      }
    }
    FlushOutput();
  }
  lines.ReportMalformed(common.MakeLog());
  Report(total, scored, common);
}

}  // namespace

int RunScore(const std::vector<std::string>& arguments) {
  CommonOptions common;
  ScoreCommandOptions options;
  CommandLine command_line("score",
                           "log-probability of given translations, or of texts by a language model",
                           "attend score --model MODEL --source test.en --target test.de\n"
                           "attend score --model MODEL --source test.en --target test.de --json\n"
                           "attend score --model LANGUAGE_MODEL --input test.txt --stride 128");
  command_line.Options(Fields(options))
      .Options(Fields(common, {"threads", "quiet", "json", "data_dir"}))
      .Required({"model"});
  if (!command_line.Parse(arguments)) return 0;
  const auto model = LoadModel(options.model);
  const bool language_model = model->config.task == "language_model";
  if (!language_model) CheckTask(model->config, "translation");
  CheckGiven(command_line, language_model);
  if (language_model) {
    options.texts.batch_tokens = options.pairs.batch_tokens;
    ScoreLines(model, options.texts, options.input, common);
  } else {
    ScorePairs(model, options.pairs, options, common);
  }
  return 0;
}

}  // namespace attend
