// `attend score`: log-probability of given translations, or of texts by a language model.
#include "cli/score_command.h"

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
#include "cli/unknown_lines.h"
#include "data/documents.h"
#include "model/quantize.h"
#include "tasks/language_model/generation_options.h"
#include "tasks/loaded_model.h"
#include "tasks/task_names.h"
#include "tasks/translation/translation_options.h"
#include "text/lines.h"
#include "text/utf8.h"

namespace attend {
namespace {

// What is scored as one text.
enum class ScoredText { kLine, kBlankLine, kFile };

struct ScoreCommandOptions {
  std::string model, adapter, source, target, input, device = kEngine;
  WeightType type = WeightType::kStored;
  ScoredText documents = ScoredText::kLine;
  ScoreOptions pairs;
  TextScoreOptions texts;
};

FieldList Fields(ScoreCommandOptions& options) {
  FieldList fields;
  fields.Add("model", &options.model, "the model directory")
      .Nest("", AdapterField(&options.adapter))
      .Nest("", TypeField(&options.type))
      .Add("source", &options.source, "source text, a sentence a line; -: standard input")
      .Add("target", &options.target, "its translation, line by line; -: standard input")
      .Nest("", Fields(options.pairs))
      .Nest("", DeviceField(&options.device))
      .Add("input", &options.input, "text for a language model to score; -: standard input")
      .Add("documents", &options.documents, {"line", "blank_line", "file"},
           "what is scored as one text: each line, what blank lines divide, or the whole input; "
           "lines of one text end in the newline token, as in training")
      .Nest("", Fields(options.texts).Select({"window", "stride", "end"}));
  return fields;
}

// Options that the model's task leaves unused, and those that it needs.
void CheckGiven(const CommandLine& command_line, bool language_model, bool alignments) {
  using Names = std::vector<std::string>;
  const Names for_pairs = {"source", "target", "alignments", "alignment_layer", "device"},
              for_texts = {"input", "documents", "window", "stride", "end"};
  for (const std::string& name : language_model ? for_pairs : for_texts) {
    if (!command_line.IsSet(name)) continue;
    throw Error(ErrorKind::kUsage,
                fmt::format("attend score: {} is not for this model, whose task is {}; give {}",
                            name, language_model ? "language_model" : "translation",
                            language_model ? "--input" : "--source and --target"));
  }
  if (command_line.IsSet("alignment_layer") && !alignments) {
    throw Error(ErrorKind::kUsage,
                "attend score: alignment_layer is given without alignments, which come from it; "
                "add --alignments or leave it out");
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

void ScorePairs(const std::shared_ptr<const LoadedModel>& loaded, ScoreOptions options,
                const ScoreCommandOptions& files, const CommonOptions& common) {
  const Scorer scorer(loaded, common.ThreadCount());
  UnknownLines sources(loaded->source_vocabulary), targets(loaded->target_vocabulary);
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
    sources.Add(pairs.lines(0), pairs.number(), files.source);
    targets.Add(pairs.lines(1), pairs.number(), files.target);
  }
  pairs.ReportMalformed(common.MakeLog());
  sources.Report(common.MakeLog());
  targets.Report(common.MakeLog());
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

// One call of the command for a language model.
class TextScoring {
 public:
  TextScoring(const std::shared_ptr<const Model>& model, const TextScoreOptions& options,
              const CommonOptions& common)
      : loaded_(Load(model, {})),
        generator_(loaded_, common.ThreadCount()),
        options_(options),
        common_(common) {}

  void Lines(const std::string& path) {
    LineWindows lines({path}, isatty(STDOUT_FILENO) == 1, common_.ThreadCount());
    while (lines.Next()) {
      Add(generator_.Score(lines.lines(), options_));
      for (const std::string& line : lines.lines()) {
        total_.words += CountWords(line) + (options_.end ? 1 : 0);
        total_.characters += CountCodePoints(line) + (options_.end ? 1 : 0);
      }
      unknown_.Add(lines.lines(), lines.number());
    }
    lines.ReportMalformed(common_.MakeLog());
    unknown_.Report(common_.MakeLog());
    Report(total_, scored_, common_);
  }

  // As training reads documents and scores its test text.
  void WholeDocuments(const std::string& path, DocumentEnd end) {
    constexpr int64_t kTokensAtOnce = 1 << 20;
    const Vocabulary& vocabulary = loaded_->target();
    Documents documents(vocabulary, {.documents = end});
    LineReader reader(path);
    int64_t malformed = 0;
    for (std::string text; reader.Next(&text);) {
      const auto line = Documents::Encode(vocabulary, text);
      malformed += line.malformed;
      documents.Add(text, line, {});
      unknown_.Add({&text, 1}, reader.lines());
      if (documents.text_size().tokens < kTokensAtOnce) continue;
      Add(documents);
      documents = Documents(vocabulary, {.documents = end});
    }
    documents.End();
    Add(documents);
    LogMalformed(malformed, reader.name(), common_.MakeLog());
    unknown_.Report(common_.MakeLog());
    Report(total_, scored_, common_);
  }

 private:
  void Add(const Documents& documents) {
    const TextSize& size = documents.text_size();
    std::vector<std::vector<int32_t>> ids;
    for (int64_t i = 0; i < size.documents; ++i)
      ids.emplace_back(documents[i].begin(), documents[i].end() - 1);  // the end is scored besides
    Add(generator_.ScoreIds(ids, options_));
    total_.words += size.words;
    total_.characters += size.characters;
  }

  void Add(const std::vector<TextScore>& scores) {
    for (const TextScore& score : scores) {
      const int64_t tokens = std::ssize(score.token_log_probabilities);
      total_.log_probability += score.log_probability;
      total_.tokens += tokens;
      if (common_.json) {
        scored_.push_back({{"log_probability", score.log_probability}, {"tokens", tokens}});
      } else {
        std::cout << fmt::format("{:.6f}\n", score.log_probability);
      }
    }
    FlushOutput();
  }

  const std::shared_ptr<const LoadedModel> loaded_;
  const Generator generator_;
  const TextScoreOptions options_;
  const CommonOptions& common_;
  UnknownLines unknown_{loaded_->target_vocabulary};
  ScoreTotal total_;
  Json scored_ = Json::array();  // with --json, which prints them at the end
};

}  // namespace

int Score(const std::vector<std::string>& arguments, const RunOnDevice& run_on_device) {
  CommonOptions common;
  ScoreCommandOptions options;
  CommandLine command_line("score",
                           "log-probability of given translations, or of texts by a language model",
                           "attend score --model MODEL --source test.en --target test.de\n"
                           "attend score --model MODEL --source test.en --target test.de --json\n"
                           "attend score --model LSTM --device cpu --source a.en --target a.de\n"
                           "attend score --model LANGUAGE_MODEL --input test.txt --stride 128");
  command_line.Options(Fields(options))
      .Options(Fields(common, {"threads", "quiet", "json", "data_dir"}))
      .Required({"model"});
  if (!command_line.Parse(arguments)) return 0;
  const auto model = WithWeights(LoadModelWith(options.model, options.adapter), options.type);
  CheckTask(model->config, {"translation", "language_model"});
  const bool language_model = model->config.task == "language_model";
  CheckGiven(command_line, language_model, options.pairs.alignments);
  if (language_model) {
    options.texts.batch_tokens = options.pairs.batch_tokens;
    TextScoring scoring(model, options.texts, common);
    const std::string path = common.DataPath(options.input);
    if (options.documents == ScoredText::kLine) {
      scoring.Lines(path);
    } else {
      scoring.WholeDocuments(path, options.documents == ScoredText::kFile
                                       ? DocumentEnd::kFile
                                       : DocumentEnd::kBlankLine);
    }
  } else {
    CheckForEngine(options.device, options.type == WeightType::kInt8, "type int8");
    ScorePairs(options.device == kEngine ? Load(model, {}) : run_on_device(model, options.device),
               options.pairs, options, common);
  }
  return 0;
}

}  // namespace attend
