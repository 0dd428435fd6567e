// `attend rerank`: puts lists of the n best translations in the order that several models give.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "attend/error.h"
#include "attend/generator.h"
#include "attend/metrics.h"
#include "attend/scorer.h"
#include "base/counted.h"
#include "base/files.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/line_windows.h"
#include "cli/rerank/n_best_list.h"
#include "cli/rerank/weight_search.h"
#include "tasks/loaded_model.h"
#include "tasks/translation/directions.h"
#include "text/lines.h"
#include "text/utf8.h"

namespace attend {
namespace {

struct RerankOptions {
  std::string input = "-", source, output = "-", tune;
  std::vector<std::string> model, reverse_model, language_model;
  std::vector<double> weights;
  int64_t n_best = 1;
  WeightType type = WeightType::kStored;
};

FieldList Fields(RerankOptions& options) {
  FieldList fields;
  fields
      .Add("input", &options.input,
           "lists of hypotheses, as `attend translate --n-best` writes them; -: standard input")
      .Add("source", &options.source, "the text that was translated, a sentence a line")
      .Add("model", &options.model,
           "model directories that score each translation of the source, such as one that was "
           "trained with right_to_left")
      .Add("reverse_model", &options.reverse_model,
           "models of the other direction, which score the source as a translation of each "
           "hypothesis (noisy channel)")
      .Add("language_model", &options.language_model, "language models of the target")
      .Nest("", TypeField(&options.type))
      .Add("weights", &options.weights, -1e6, 1e6,
           "a number for the score in the input, one for the log-probability by each model, "
           "reverse_model and language_model in their order, and one for the number of words")
      .Add("tune", &options.tune,
           "right translations of the source: finds weights that are good by BLEU, from `weights` "
           "or from the score alone on, and says them")
      .Add("n_best", &options.n_best, 1, 1000,
           "above 1: so many of each list are written, as lists; 1: the best alone, a line each")
      .Add("output", &options.output, "file to write; -: standard output");
  return fields;
}

// What is scored with each model: all hypotheses, one list after another.
struct Hypotheses {
  std::vector<std::string> sources, texts;  // a source stands there as often as it has hypotheses
  std::vector<size_t> first;                // of each list, and the end of the last one
};

// A model for this option.
std::shared_ptr<const LoadedModel> LoadOption(const std::string& directory, const char* option,
                                              const std::string& task, WeightType type) {
  auto loaded = Load(directory, {.type = type, .instruction_set = {}, .adapter = {}});
  if (loaded->config().task == task) return loaded;
  throw Error(ErrorKind::kUsage,
              fmt::format("attend rerank: --{} '{}' is a model of the task {}, expected {}", option,
                          directory, loaded->config().task, task));
}

// Where one of the hypotheses from `begin` to `end` can't be scored: scores each list alone, to
// name the one that it is of.
template <class Score>
void NameList(const Hypotheses& hypotheses, size_t begin, size_t end, const Score& score) {
  for (size_t list = 0; list + 1 < hypotheses.first.size(); ++list) {
    const size_t first = hypotheses.first[list], next = hypotheses.first[list + 1];
    if (next <= begin || first >= end) continue;
    try {
      score(first, next - first);
    } catch (const Error& error) {
      throw Error(error.kind(),
                  fmt::format("attend rerank: list {}, whose hypotheses count as lines: {}", list,
                              error.what()));
    }
  }
}

// Adds a feature to each hypothesis; `first` and `count` of them are scored at once.
template <class Score>
void AddFeature(const Hypotheses& hypotheses, std::vector<Features>* features, const Score& score) {
  constexpr size_t kAtOnce = 4096;
  for (size_t first = 0; first < features->size(); first += kAtOnce) {
    const size_t count = std::min(kAtOnce, features->size() - first);
    const auto scores = [&] {
      try {
        return score(first, count);
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::kInput) NameList(hypotheses, first, first + count, score);
        throw;
      }
    }();
    for (size_t i = 0; i < count; ++i) (*features)[first + i].push_back(scores[i].log_probability);
  }
}

void AddTranslationScores(const RerankOptions& options, const Hypotheses& hypotheses,
                          const CommonOptions& common, std::vector<Features>* features) {
  const auto add = [&](const std::shared_ptr<const LoadedModel>& model,
                       const std::vector<std::string>& from, const std::vector<std::string>& to) {
    const Scorer scorer(model, common.ThreadCount());
    AddFeature(hypotheses, features, [&](size_t first, size_t count) {
      return scorer.Score(std::span(from).subspan(first, count),
                          std::span(to).subspan(first, count));
    });
  };
  ModelConfig first;  // of the first model that names its languages
  for (const std::string& directory : options.model) {
    const auto model = LoadOption(directory, "model", "translation", options.type);
    CheckSameDirection(first, model->config(), fmt::format("that of --model '{}'", directory));
    if (first.languages.empty()) first = model->config();
    add(model, hypotheses.sources, hypotheses.texts);
  }
  for (const std::string& directory : options.reverse_model) {
    const auto model = LoadOption(directory, "reverse-model", "translation", options.type);
    CheckOppositeDirection(first, model->config(),
                           fmt::format("that of --reverse-model '{}'", directory));
    add(model, hypotheses.texts, hypotheses.sources);
  }
}

// The features of all hypotheses, in the order that `weights` has.
std::vector<Features> FeaturesOf(const RerankOptions& options, const std::vector<NBestList>& lists,
                                 const Hypotheses& hypotheses, const CommonOptions& common) {
  std::vector<Features> features;
  for (const NBestList& list : lists)
    for (const RankedText& ranked : list) features.push_back({ranked.score});
  AddTranslationScores(options, hypotheses, common, &features);
  for (const std::string& directory : options.language_model) {
    const Generator generator(
        LoadOption(directory, "language-model", "language_model", options.type),
        common.ThreadCount());
    AddFeature(hypotheses, &features, [&](size_t first, size_t count) {
      return generator.Score(std::span(hypotheses.texts).subspan(first, count));
    });
  }
  for (size_t i = 0; i < features.size(); ++i)
    features[i].push_back(static_cast<double>(CountWords(hypotheses.texts[i])));
  return features;
}

std::vector<std::string> LinesFor(const std::string& path, size_t lists, const char* option) {
  std::vector<std::string> lines = ReadLines(path);
  if (lines.size() != lists) {
    throw Error(ErrorKind::kInput,
                fmt::format("attend rerank: {} has {} lines and the input {} lists; expected as "
                            "many of one as of the other",
                            option, lines.size(), lists));
  }
  for (std::string& line : lines) line = RepairUtf8(line);
  return lines;
}

Hypotheses HypothesesOf(const std::vector<NBestList>& lists,
                        const std::vector<std::string>& sources) {
  Hypotheses all;
  for (size_t i = 0; i < lists.size(); ++i) {
    all.first.push_back(all.texts.size());
    for (const RankedText& ranked : lists[i]) {
      all.sources.push_back(sources[i]);
      all.texts.push_back(ranked.text);
    }
  }
  all.first.push_back(all.texts.size());
  return all;
}

// One entry of `weights` for each feature.
void CheckWeights(const RerankOptions& options) {
  const size_t models =
      options.model.size() + options.reverse_model.size() + options.language_model.size();
  if (models == 0) {
    throw Error(ErrorKind::kUsage,
                "attend rerank: no model is given; expected --model, --reverse-model or "
                "--language-model");
  }
  if (options.weights.empty() && options.tune.empty()) {
    throw Error(ErrorKind::kUsage,
                "attend rerank: neither --weights nor --tune is given; tune finds weights on a "
                "validation text");
  }
  if (options.weights.empty() || options.weights.size() == models + 2) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("attend rerank: --weights has {}, expected {}: for the score, "
                          "each model, and the number of words",
                          Counted(std::ssize(options.weights), "number"), models + 2));
}

// The first, which gives the scale, is 1 where none are given.
std::vector<double> TunedWeights(const RerankOptions& options, const std::vector<NBestList>& lists,
                                 const std::vector<Features>& features,
                                 const CommonOptions& common) {
  const std::vector<std::string> references =
      LinesFor(common.DataPath(options.tune), lists.size(), "--tune");
  const Bleu bleu;
  std::vector<ScoredList> scored;
  size_t next = 0;
  for (size_t i = 0; i < lists.size(); ++i) {
    ScoredList& list = scored.emplace_back();
    for (const RankedText& ranked : lists[i]) {
      list.features.push_back(features[next++]);
      list.statistics.push_back(bleu.Statistics(ranked.text, {references[i]}));
    }
  }
  std::vector<double> weights = options.weights;
  if (weights.empty()) {
    weights.assign(features[0].size(), 0);
    weights[0] = 1;
  }
  const double before = CorpusScoreOf(scored, bleu, weights);
  weights = TuneWeights(scored, bleu, std::move(weights));
  common.MakeLog()(LogLevel::kInfo, fmt::format("BLEU {:.2f}, before {:.2f}: --weights {}",
                                                CorpusScoreOf(scored, bleu, weights), before,
                                                fmt::join(weights, " ")));
  return weights;
}

std::string RerankedText(const std::vector<NBestList>& lists, const std::vector<Features>& features,
                         const std::vector<double>& weights, int64_t n_best) {
  std::string text;
  auto first = features.begin();
  for (size_t i = 0; i < lists.size(); ++i) {
    const std::vector<Features> of_list(first, first + std::ssize(lists[i]));
    first += std::ssize(lists[i]);
    const std::vector<size_t> order = OrderOf(of_list, weights);
    for (size_t rank = 0; rank < std::min<size_t>(order.size(), n_best); ++rank) {
      const std::string& hypothesis = lists[i][order[rank]].text;
      text += n_best == 1 ? hypothesis + "\n"
                          : fmt::format("{} ||| {} ||| {:.6f}\n", i, hypothesis,
                                        WeightedSum(of_list[order[rank]], weights));
    }
  }
  return text;
}

void Rerank(const RerankOptions& options, const CommonOptions& common) {
  const std::vector<NBestList> lists = ReadNBestLists(common.DataPath(options.input));
  const std::vector<std::string> sources =
      LinesFor(common.DataPath(options.source), lists.size(), "--source");
  std::optional<AtomicFile> file;  // first: that it can't be written is better known before
  if (options.output != "-") file.emplace(options.output);
  std::vector<double> weights = options.weights;
  std::string text;
  if (!lists.empty()) {
    const std::vector<Features> features =
        FeaturesOf(options, lists, HypothesesOf(lists, sources), common);
    if (!options.tune.empty()) weights = TunedWeights(options, lists, features, common);
    text = RerankedText(lists, features, weights, options.n_best);
  }
  if (!file) {
    std::cout << text;
    FlushOutput();
    return;
  }
  file->Write(text);
  file->Commit();
}

}  // namespace

int RunRerank(const std::vector<std::string>& arguments) {
  CommonOptions common;
  RerankOptions options;
  CommandLine command_line(
      "rerank", "order n-best lists anew by further models",
      "attend translate --model MODEL --n-best 8 --beam-size 8 --input valid.en > valid.lists\n"
      "attend rerank --model RIGHT_TO_LEFT --reverse-model DE_EN --language-model LM \\\n"
      "    --input valid.lists --source valid.en --tune valid.de --output valid.best.de\n"
      "attend rerank --model RIGHT_TO_LEFT --input test.lists --source test.en \\\n"
      "    --weights 1 0.25 0 --output test.best.de");
  command_line.Options(Fields(options))
      .Options(Fields(common, {"threads", "quiet", "data_dir"}))
      .Required({"source"});
  if (!command_line.Parse(arguments)) return 0;
  CheckWeights(options);
  CheckStandardInput({options.input, options.source, options.tune});
  Rerank(options, common);
  return 0;
}

}  // namespace attend
