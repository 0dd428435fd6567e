// `attend evaluate`: scores translations, alignments, labels, classes and trees against references.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "attend/error.h"
#include "attend/metrics.h"
#include "base/edit_distance.h"
#include "base/json.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/evaluate/bracket_scores.h"
#include "cli/evaluate/label_scores.h"
#include "cli/line_windows.h"
#include "metrics/characters.h"
#include "metrics/error_rate.h"
#include "metrics/exact_match.h"
#include "metrics/metric_fields.h"
#include "metrics/tokenizer_choice.h"
#include "text/lines.h"
#include "text/utf8.h"

namespace attend {
namespace {

struct EvaluateOptions {
  std::string hypothesis;
  std::vector<std::string> reference;
  std::vector<std::string> metrics = {"bleu"};
  BleuOptions bleu;
  ChrfOptions chrf;
  TerOptions ter;
  AerOptions aer;
  bool skip_empty_references = false;
  bool sentence_level = false;
  std::string baseline;

  EmptyReferences empty_references() const {
    return skip_empty_references ? EmptyReferences::kMissing : EmptyReferences::kText;
  }
  int64_t bootstrap_samples = 1000;
  int64_t width = 2;
};

FieldList Fields(EvaluateOptions& options) {
  FieldList fields;
  fields
      .Add("hypothesis", &options.hypothesis,
           "the translations, a line each, plain, .gz or .zst; for aer, word alignments; for "
           "entity and labels, columns; for accuracy, a class a line; for brackets, a tree a line; "
           "as `baseline`, from the "
           "working directory; -: "
           "standard input")
      .Add("reference", &options.reference,
           "right translations; several files are alternatives. For aer, links such as 0-0 1-2, "
           "possible ones as 1?3 or 1p3")
      .Add(
          "metrics", &options.metrics,
          "of bleu, chrf, chrf++, ter, exact_match, wer and cer (of words and characters), divided "
          "by commas; or aer, of alignments; or "
          "entity, F1 of "
          "labelled entities in the last column; or labels, accuracy of any labels there; or "
          "accuracy, of classes; or brackets, of trees, as evalb with COLLINS.prm")
      .Add("skip_empty_references", &options.skip_empty_references,
           "where some texts have more references than others: an empty line of a file is none, as "
           "None is for sacreBLEU; without it, a reference without words")
      .Nest("", Fields(options.bleu))
      .Add("sentence_level", &options.sentence_level, "a score for each line")
      .Add("baseline", &options.baseline,
           "translations of another system: p-values by paired bootstrap resampling (with --seed)")
      .Add("bootstrap_samples", &options.bootstrap_samples, 1, 1e7, "samples of the bootstrap")
      .Add("width", &options.width, 0, 12, "decimal places of scores")
      .Nest("chrf", Fields(options.chrf))
      .Nest("ter", Fields(options.ter))
      .Nest("aer", Fields(options.aer));
  return fields;
}

struct Task {
  std::string key;  // as --metrics names it
  std::unique_ptr<Metric> metric;
};

std::unique_ptr<Metric> MakeMetric(const std::string& key, const EvaluateOptions& options) {
  if (key == "bleu") return std::make_unique<Bleu>(options.bleu);
  if (key == "ter") return std::make_unique<Ter>(options.ter);
  if (key == "aer") return std::make_unique<Aer>(options.aer);
  if (key == "wer") return std::make_unique<ErrorRate>(ErrorUnit::kWords, options.bleu.lowercase);
  if (key == "cer")
    return std::make_unique<ErrorRate>(ErrorUnit::kCharacters, options.bleu.lowercase);
  if (key == "exact_match") return std::make_unique<ExactMatch>(options.bleu.lowercase);
  ChrfOptions chrf = options.chrf;
  if (key == "chrf++") chrf.word_order = 2;
  return std::make_unique<Chrf>(chrf);
}

// What --metrics names, divided by commas or blanks; each once.
std::vector<std::string> MetricNames(const EvaluateOptions& options) {
  const std::vector<std::string> known = {"bleu",        "chrf",   "chrf++",   "ter",
                                          "exact_match", "wer",    "cer",      "aer",
                                          "entity",      "labels", "accuracy", "brackets"};
  std::vector<std::string> names;
  for (const std::string& list : options.metrics) {
    for (size_t start = 0; start <= list.size();) {
      const size_t end = std::min(list.find(',', start), list.size());
      const std::string key = list.substr(start, end - start);
      start = end + 1;
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        throw Error(
            ErrorKind::kUsage,
            fmt::format(
                "--metrics: '{}' is no metric, expected bleu, chrf, chrf++, ter, exact_match, wer, "
                "cer, aer, entity, labels, accuracy or brackets{}",
                key, DidYouMean(key, known)));
      }
      if (std::find(names.begin(), names.end(), key) != names.end())
        throw Error(ErrorKind::kUsage, fmt::format("--metrics: '{}' stands there twice", key));
      names.push_back(key);
    }
  }
  return names;
}

// Of metrics that compare texts or alignments.
std::vector<Task> MakeTasks(const EvaluateOptions& options) {
  std::vector<Task> tasks;
  for (const std::string& key : MetricNames(options))
    tasks.push_back({key, MakeMetric(key, options)});
  const auto aligns = [](const Task& task) { return task.key == "aer"; };
  if (tasks.size() > 1 && std::any_of(tasks.begin(), tasks.end(), aligns)) {
    throw Error(ErrorKind::kUsage,
                "--metrics: aer reads alignments and the others text; ask for it alone");
  }
  if (aligns(tasks.front()) && options.reference.size() > 1) {
    throw Error(ErrorKind::kUsage, "attend evaluate: aer takes one --reference");
  }
  return tasks;
}

// Metrics of labels and trees are asked for alone. Returns whether one was.
bool EvaluateAlone(const EvaluateOptions& options, const CommonOptions& common) {
  const std::vector<std::string> names = MetricNames(options);
  const auto alone = std::ranges::find_if(names, [](const auto& key) {
    return key == "entity" || key == "labels" || key == "accuracy" || key == "brackets";
  });
  if (alone == names.end()) return false;
  if (names.size() > 1 || options.reference.size() > 1 || options.sentence_level ||
      !options.baseline.empty() || options.bleu.lowercase) {
    throw Error(ErrorKind::kUsage,
                fmt::format("attend evaluate: {} stands alone, with one --reference and without "
                            "--sentence-level, --baseline and --lowercase",
                            *alone));
  }
  const std::string &hypothesis = options.hypothesis, &reference = options.reference[0];
  if (names[0] == "entity") {
    const EntityScores scores = ScoreEntityFiles(hypothesis, reference, common.MakeLog());
    PrintReport(common, ToJson(scores, options.width),
                [&](const Json&) { std::cout << ToText(scores, options.width); });
    return true;
  }
  if (names[0] == "brackets") {
    const BracketScores scores = ScoreBracketFiles(hypothesis, reference, common.MakeLog());
    PrintReport(common, ToJson(scores, options.width),
                [&](const Json&) { std::cout << ToText(scores, options.width); });
    return true;
  }
  const auto score = names[0] == "labels" ? ScoreWordLabelFiles : ScoreClassFiles;
  const ClassScores scores = score(hypothesis, reference);
  PrintReport(common, ToJson(scores, options.width, names[0].c_str()),
              [&](const Json&) { std::cout << ToText(scores, options.width); });
  return true;
}

// The file's lines as sacreBLEU's own command reads them: malformed UTF-8 is repaired, NUL stays,
// and white space at their ends goes, which chrF with white space would count.
std::vector<std::string> ReadText(const std::string& path, const Log& log) {
  std::vector<std::string> lines = ReadLines(path);
  int64_t malformed = 0;
  for (std::string& line : lines) line = StripRight(RepairUtf8(line, &malformed, Nul::kKept));
  LogMalformed(malformed, path, log);
  return lines;
}

std::vector<std::string> ReadMatching(const std::string& path, const std::string& hypothesis,
                                      size_t expected, const Log& log) {
  std::vector<std::string> lines = ReadText(path, log);
  if (lines.size() != expected) {
    throw Error(ErrorKind::kInput, fmt::format("{} has {} lines and {} has {}, expected the same",
                                               hypothesis, expected, path, lines.size()));
  }
  return lines;
}

struct Texts {
  std::vector<std::string> hypotheses;
  ReferenceSets references;
  std::vector<std::string> baseline;
};

Texts ReadTexts(const EvaluateOptions& options, const Log& log) {
  Texts texts;
  const std::string& hypothesis = options.hypothesis;
  texts.hypotheses = ReadText(hypothesis, log);
  if (texts.hypotheses.empty()) {
    throw Error(ErrorKind::kInput,
                fmt::format("{} is empty, expected a line a sentence", hypothesis));
  }
  const size_t lines = texts.hypotheses.size();
  for (const std::string& path : options.reference) {
    texts.references.push_back(ReadMatching(path, hypothesis, lines, log));
  }
  if (!options.baseline.empty()) {
    texts.baseline = ReadMatching(options.baseline, hypothesis, lines, log);
  }
  return texts;
}

// Errors of alignment links name file and line here; the metric sees one line at a time.
void CheckAlignments(const EvaluateOptions& options, const Texts& texts) {
  const auto check = [](const auto& parse, const std::string& path, const auto& lines) {
    for (size_t i = 0; i < lines.size(); ++i) parse(lines[i], fmt::format("{}:{}", path, i + 1));
  };
  check(ParsePrediction, options.hypothesis, texts.hypotheses);
  check(ParsePrediction, options.baseline, texts.baseline);
  check(ParseAlignment, options.reference[0], texts.references[0]);
}

std::string Number(double value, int64_t width) { return fmt::format("{:.{}f}", value, width); }
double Rounded(double value, int64_t width) { return std::stod(Number(value, width)); }

// A line for each sentence, the metrics' scores divided by tabs.
void PrintSentences(const std::vector<Task>& tasks, const Texts& texts,
                    const EvaluateOptions& options, const CommonOptions& common) {
  Json result = Json::object();
  std::vector<std::string> lines(texts.hypotheses.size());
  for (const Task& task : tasks) {
    const std::string signature =
        task.metric->Signature(CountReferences(texts.references, options.empty_references()));
    Json scores = Json::array();
    size_t i = 0;
    for (const MetricStatistics& sentence : CorpusStatistics(
             *task.metric, texts.hypotheses, texts.references, options.empty_references())) {
      const double score = task.metric->Score(sentence);
      scores.push_back(Rounded(score, options.width));
      if (!lines[i].empty()) lines[i] += '\t';
      lines[i] += Number(score, options.width);
      ++i;
    }
    result[task.key] = {{"scores", scores}, {"signature", signature}};
    if (!common.json)
      common.MakeLog()(LogLevel::kInfo, fmt::format("{}|{}", task.metric->Name(), signature));
  }
  PrintReport(common, result, [&](const Json&) {
    for (const std::string& line : lines) std::cout << line << '\n';
  });
}

// The signature of a bootstrap says how it was drawn, after the number of references.
std::string BootstrapSignature(std::string signature, const BootstrapOptions& options) {
  return signature.insert(signature.find('|'),
                          fmt::format("|bs:{}|seed:{}", options.samples, options.seed));
}

void PrintCorpus(const std::vector<Task>& tasks, const Texts& texts, const EvaluateOptions& options,
                 const CommonOptions& common) {
  Json result = Json::object();
  const EmptyReferences empty = options.empty_references();
  for (const Task& task : tasks) {
    const Metric& metric = *task.metric;
    const auto sentences = CorpusStatistics(metric, texts.hypotheses, texts.references, empty);
    const MetricStatistics sums = SumStatistics(sentences);
    std::string signature = metric.Signature(CountReferences(texts.references, empty));
    const std::string details = metric.Details(sums);
    Json entry = {{"score", Rounded(metric.Score(sums), options.width)}, {"signature", signature}};
    if (!details.empty()) entry["details"] = details;
    std::string text = Number(metric.Score(sums), options.width);
    if (!details.empty()) text.append(1, ' ').append(details);
    if (!texts.baseline.empty()) {
      const auto baseline = CorpusStatistics(metric, texts.baseline, texts.references, empty);
      const double baseline_score = metric.Score(SumStatistics(baseline));
      const BootstrapOptions bootstrap{options.bootstrap_samples,
                                       static_cast<uint64_t>(common.seed)};
      const BootstrapResult found = PairedBootstrap(metric, baseline, sentences, bootstrap);
      signature = BootstrapSignature(signature, bootstrap);
      entry["signature"] = signature;
      entry["p_value"] = found.p_value;
      entry["mean"] = Rounded(found.mean, options.width);
      entry["confidence"] = Rounded(found.confidence, options.width);
      entry["baseline"] = {{"score", Rounded(baseline_score, options.width)},
                           {"mean", Rounded(found.baseline_mean, options.width)},
                           {"confidence", Rounded(found.baseline_confidence, options.width)}};
      text += fmt::format(
          " (μ = {} ± {}); baseline {} (μ = {} ± {}), p = {:.4f}",
          Number(found.mean, options.width), Number(found.confidence, options.width),
          Number(baseline_score, options.width), Number(found.baseline_mean, options.width),
          Number(found.baseline_confidence, options.width), found.p_value);
    }
    result[task.key] = entry;
    if (!common.json) std::cout << fmt::format("{}|{} = {}\n", metric.Name(), signature, text);
  }
  PrintReport(common, result);
}

// Of texts that the metrics' settings do not fit.
void WarnOfTexts(const std::vector<Task>& tasks, const Texts& texts, const EvaluateOptions& options,
                 const Log& log) {
  const auto has = [&](const char* key) {
    return std::any_of(tasks.begin(), tasks.end(),
                       [&](const Task& task) { return task.key == key; });
  };
  if (has("bleu")) {
    std::vector<NamedText> named = {{options.hypothesis, &texts.hypotheses},
                                    {options.baseline, &texts.baseline}};
    for (size_t r = 0; r < texts.references.size(); ++r)
      named.push_back({options.reference[r], &texts.references[r]});
    for (const std::string& warning : BleuWarnings(options.bleu, named))
      log(LogLevel::kWarning, warning);
  }
  if (has("ter") && TerNeedsCharacters(options.ter, options.bleu.language, texts.references[0])) {
    log(LogLevel::kWarning,
        "TER takes what stands between white space for one word; --ter.normalized "
        "--ter.asian-support cut Chinese and Japanese text into characters");
  }
}

void CheckOptions(const EvaluateOptions& options) {
  if (options.sentence_level && !options.baseline.empty()) {
    throw Error(ErrorKind::kUsage,
                "attend evaluate: --baseline compares whole texts; leave out --sentence-level");
  }
  std::vector<std::string> files = {options.hypothesis, options.baseline};
  files.insert(files.end(), options.reference.begin(), options.reference.end());
  CheckStandardInput(files);
}

}  // namespace

int RunEvaluate(const std::vector<std::string>& arguments) {
  EvaluateOptions options;
  CommonOptions common;
  common.seed = 12345;  // sacreBLEU's
  CommandLine command_line(
      "evaluate",
      "score translations: BLEU, chrF, chrF++ and TER, computed by attend and equal to sacreBLEU "
      "2.6.0's, whose signature says how; exact matches; errors of words and characters (WER, "
      "CER), "
      "equal to jiwer 4.0.0's; word alignments: AER; entities, as "
      "conlleval; classes; "
      "trees, "
      "as evalb",
      "attend evaluate --hypothesis output.de --reference test.de\n"
      "attend evaluate --hypothesis output.zh --reference test.zh --language zh\n"
      "attend evaluate --hypothesis new.de --baseline old.de --reference test.de "
      "--metrics bleu,chrf++,ter --json\n"
      "attend evaluate --hypothesis output.txt --reference test.1 test.2 test.3 "
      "--skip-empty-references --metrics bleu,exact_match\n"
      "attend evaluate --metrics wer,cer --hypothesis transcripts.txt --reference test.txt\n"
      "attend evaluate --metrics aer --hypothesis out.align --reference test.en-de.align\n"
      "attend evaluate --metrics entity --hypothesis tagged.conll --reference eng.testb\n"
      "attend evaluate --metrics labels --hypothesis tagged.conll --reference test.pos\n"
      "attend evaluate --metrics accuracy --hypothesis classified.tsv --reference test.tsv\n"
      "attend evaluate --metrics brackets --hypothesis parsed.trees --reference test.trees");
  command_line.Options(Fields(options))
      .Options(Fields(common, {"seed", "quiet", "json", "data_dir"}))
      .Required({"hypothesis", "reference"});
  if (!command_line.Parse(arguments)) return 0;
  CheckOptions(options);
  for (std::string& path : options.reference) path = common.DataPath(path);
  if (EvaluateAlone(options, common)) return 0;
  options.chrf.lowercase = options.bleu.lowercase;
  if (options.sentence_level) options.bleu.effective_order = true;
  const std::vector<Task> tasks = MakeTasks(options);
  const Texts texts = ReadTexts(options, common.MakeLog());
  if (tasks.front().key == "aer") CheckAlignments(options, texts);
  WarnOfTexts(tasks, texts, options, common.MakeLog());
  (options.sentence_level ? PrintSentences : PrintCorpus)(tasks, texts, options, common);
  return 0;
}

}  // namespace attend
