// `attend clean`: drops lines of parallel text, or of text of one language, that are not worth
// training on.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "attend/error.h"
#include "base/counted.h"
#include "base/files.h"
#include "base/thread_pool.h"
#include "cli/clean/clean_files.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/translate/progress.h"
#include "data/cleaning/cleaning_report.h"
#include "data/cleaning/cleaning_rules.h"
#include "data/cleaning/seen_hashes.h"
#include "model/adapted_model.h"
#include "model/quantize.h"
#include "serve/tasks/translation/language_detector.h"
#include "tasks/checks.h"
#include "tasks/loaded_model.h"
#include "tasks/task_names.h"
#include "tasks/translation/dual_cross_entropy.h"
#include "text/compressor.h"

namespace attend {
namespace {

struct CleanOptions {
  std::string source, target, pairs;
  std::vector<std::string> output;
  std::string dropped, report;
  CleaningOptions rules;
  int64_t duplicate_memory = 4096;  // MiB
  std::string model, reverse_model;
  WeightType type = WeightType::kStored;
  double min_score = 0, keep_best = 1;
  int64_t batch_tokens = 2048;
  double progress = 30;

  bool has_models() const { return !model.empty(); }
  // A line's verdict depends on lines after it.
  bool reads_twice() const { return keep_best < 1; }
};

FieldList Fields(CleanOptions& options) {
  FieldList fields;
  fields.Group("Files")
      .Add("source", &options.source,
           "source side of parallel text, a sentence a line; alone: text of one language; -: "
           "standard input")
      .Add("target", &options.target, "its translation, line by line; -: standard input")
      .Add("pairs", &options.pairs,
           "in place of both: a table with source and target in its first two columns, divided by "
           "a tab, no quotes; -: standard input")
      .Add("output", &options.output,
           "files to write kept lines to, one for each file that is read; they are compressed if "
           "their names end in .gz or .zst, and appear when they are complete")
      .Add("dropped", &options.dropped,
           "file to write the other lines to, in columns: number, reason, texts")
      .Add("report", &options.report,
           "file to write counts and examples to: a page if its name ends in .md, else JSON")
      .Group("Rules")
      .Nest("", Fields(options.rules))
      .Add("duplicate_memory", &options.duplicate_memory, 1, 1e9,
           "MiB that finding duplicates may take: about 16 bytes for each kept line")
      .Group("Scores of two models")
      .Add("model", &options.model, "model directory, from source to target")
      .Add("reverse_model", &options.reverse_model, "model directory, from target to source")
      .Nest("", TypeField(&options.type))
      .Add("min_score", &options.min_score, 0, 1,
           "drop pairs whose dual conditional cross-entropy by both models, as a score from 0 to "
           "1, is lower")
      .Add("keep_best", &options.keep_best, 0, 1,
           "keep only this share of the pairs that no other rule drops, those of the best scores; "
           "the text is read twice")
      .Add("batch_tokens", &options.batch_tokens, 1, 1e15,
           "tokens that a model reads together on a thread")
      .Group("")
      .Add("progress", &options.progress, 0, 1e9,
           "seconds between progress lines on standard error; 0: no progress lines");
  return fields;
}

[[noreturn]] void Refuse(const std::string& message) {
  throw Error(ErrorKind::kUsage, "attend clean: " + message);
}

void CheckModels(const CleanOptions& options) {
  if (options.model.empty() != options.reverse_model.empty())
    Refuse("scores need both models, --model and --reverse-model; one is missing");
  const bool wanted = options.min_score > 0 || options.keep_best < 1;
  if (wanted && !options.has_models())
    Refuse("min_score and keep_best need --model and --reverse-model");
  if (!wanted && options.has_models())
    Refuse("models are given, but neither min_score nor keep_best; give one of them");
  if (options.has_models() && options.target.empty() && options.pairs.empty())
    Refuse("scores are of pairs; give --target, or leave the models out");
}

// Rules that say nothing of what is read.
void CheckRules(const CleanOptions& options, const CommandLine& command_line) {
  const CorpusFilters& lengths = options.rules.lengths;
  if (lengths.max_length > 0 && lengths.min_length > lengths.max_length) {
    Refuse(fmt::format("min_length is {}, above the max_length of {}: no line could be kept",
                       lengths.min_length, lengths.max_length));
  }
  if (command_line.IsSet("type") && !options.has_models())
    Refuse("type is of models; give --model and --reverse-model, too");
  if (!options.target.empty() || !options.pairs.empty()) return;
  for (const char* name : {"target_language", "numbers", "keep_copies", "max_length_ratio"}) {
    if (command_line.IsSet(name))
      Refuse(fmt::format("{} is of pairs; give --target, or leave it out", name));
  }
  if (options.rules.duplicates == Duplicates::kTarget ||
      options.rules.duplicates == Duplicates::kEither)
    Refuse("duplicates of targets are of pairs; give --target, or take source");
}

// The files to read.
std::vector<std::string> InputsOf(const CleanOptions& options, const CommonOptions& common) {
  if (options.pairs.empty() == options.source.empty())
    Refuse("give either --source, with --target if there is one, or --pairs");
  if (!options.pairs.empty() && !options.target.empty())
    Refuse("--target goes with --source; --pairs has both sides");
  std::vector<std::string> inputs;
  for (const std::string& name : {options.pairs, options.source, options.target}) {
    if (!name.empty()) inputs.push_back(common.DataPath(name));
  }
  if (options.output.size() != inputs.size()) {
    Refuse(fmt::format("--output names {}, expected {}, one for each file that is read",
                       Counted(std::ssize(options.output), "file"), inputs.size()));
  }
  if (options.reads_twice() && std::ranges::count(inputs, "-") > 0)
    Refuse("keep_best reads the text twice, and standard input can't be; give a file's name");
  return inputs;
}

// What is written must be no file that is read, and none that is written twice.
void CheckOutputs(const CleanOptions& options, const std::vector<std::string>& inputs) {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> taken;  // by their whole paths, what they were given as
  const auto place_of = [](const std::string& path) { return fs::weakly_canonical(path).string(); };
  for (const std::string& input : inputs) {
    if (input != "-") taken[place_of(input)] = "read";
  }
  std::vector<std::string> written = options.output;
  for (const std::string& path : written) Compressor::RefuseOthers("--output", path);
  Compressor::RefuseOthers("--dropped", options.dropped);
  for (const std::string& path : {options.dropped, options.report}) {
    if (!path.empty()) written.push_back(path);
  }
  for (const std::string& path : written) {
    if (fs::exists(path) && !fs::is_regular_file(path)) continue;  // as /dev/null
    const auto [other, is_new] = taken.emplace(place_of(path), "written");
    if (!is_new)
      Refuse(
          fmt::format("'{}' is {} already; expected files of their own for --output, --dropped "
                      "and --report",
                      path, other->second));
  }
}

// Of the given codes, as the detector has them.
std::map<std::string, std::string> LanguagesToDetect(const CleaningOptions& rules) {
  std::map<std::string, std::string> languages;
  for (const std::string& code : {rules.source_language, rules.target_language}) {
    if (!code.empty() && rules.detect_language) languages[code] = DetectableLanguage(code);
  }
  return languages;
}

constexpr const char* kNoDetector =
    "this program was built without a language detector (CLD2, libcld2-dev)";

// Null where nothing is detected.
IsOtherLanguage MakeDetector(const CleaningOptions& rules, bool asked) {
  const std::map<std::string, std::string> languages = LanguagesToDetect(rules);
  if (languages.empty()) return nullptr;
  if (!HasLanguageDetector()) {
    if (asked) Refuse(kNoDetector);
    return nullptr;
  }
  return [languages](std::string_view text, const std::string& code) {
    const std::string& language = languages.at(code);
    return !language.empty() && SurelyOther(text, language);
  };
}

// Of languages that are given, but can't be detected.
void WarnOfDetector(const CleaningOptions& rules, const Log& log) {
  for (const auto& [code, language] : LanguagesToDetect(rules)) {
    if (!language.empty()) continue;
    const std::string reason =
        HasLanguageDetector() ? fmt::format("CLD2 can't tell the language {} from others", code)
                              : kNoDetector;
    log(LogLevel::kWarning, reason + "; no line is dropped for its language");
    if (!HasLanguageDetector()) return;
  }
}

std::unique_ptr<const DualCrossEntropy> LoadScorers(const CleanOptions& options, int threads) {
  if (!options.has_models()) return nullptr;
  std::vector<std::shared_ptr<const Model>> models;
  for (const std::string& directory : {options.model, options.reverse_model}) {
    models.push_back(WithWeights(LoadModelWith(directory, ""), options.type));
    CheckTask(models.back()->config, {"translation"});
  }
  return std::make_unique<const DualCrossEntropy>(models[0], models[1], threads);
}

// Of lines.
struct Judged {
  std::vector<Fault> faults;
  std::vector<float> scores;  // of those without a fault, where there are models
};

// Judges line after line.
class Judge {
 public:
  Judge(const CleanOptions& options, CleaningRules rules, int threads)
      : options_(options),
        sides_(options.target.empty() && options.pairs.empty() ? 1 : 2),
        rules_(std::move(rules)),
        seen_(options.duplicate_memory << 20),
        scorers_(LoadScorers(options, threads)),
        pool_(threads) {}

  // The lines of a window.
  Judged Of(const CleanInput& input) {
    const std::vector<Sides>& lines = input.lines();
    std::vector<CleaningRules::Verdict> verdicts(lines.size());
    const auto blocks = static_cast<int64_t>((lines.size() + kBlock - 1) / kBlock);
    pool_.ParallelFor(blocks, [&](int64_t block, int) {
      const size_t end = std::min(lines.size(), (static_cast<size_t>(block) + 1) * kBlock);
      for (size_t i = static_cast<size_t>(block) * kBlock; i < end; ++i)
        verdicts[i] = VerdictOf(lines[i]);
    });
    const std::vector<std::optional<double>> scores = ScoresOf(lines, verdicts);
    Judged judged;
    for (size_t i = 0; i < lines.size(); ++i) {
      const Fault fault = FaultOf(verdicts[i], scores[i]);
      judged.faults.push_back(fault);
      if (fault != Fault::kNone) continue;
      for (const uint64_t hash : verdicts[i].hashes) seen_.Add(hash);
      if (scorers_ != nullptr) judged.scores.push_back(static_cast<float>(*scores[i]));
    }
    return judged;
  }

 private:
  static constexpr size_t kBlock = 64;  // lines that a thread takes at a time

  CleaningRules::Verdict VerdictOf(const Sides& sides) const {
    if (sides.size() < sides_) return {Fault::kMalformed, {}};
    return rules_.Judge(sides);
  }

  // Of a kept line before it.
  bool WasSeen(const CleaningRules::Verdict& verdict) const {
    return std::ranges::any_of(verdict.hashes, [&](uint64_t hash) { return seen_.Has(hash); });
  }

  // With all lines before this one judged.
  Fault FaultOf(const CleaningRules::Verdict& verdict, const std::optional<double>& score) const {
    if (verdict.fault != Fault::kNone) return verdict.fault;
    if (WasSeen(verdict)) return Fault::kDuplicate;
    if (scorers_ == nullptr) return Fault::kNone;
    if (!score) return Fault::kTooLong;
    return *score >= options_.min_score ? Fault::kNone : Fault::kScore;
  }

  // Of the lines that no rule drops; a model reads them together.
  std::vector<std::optional<double>> ScoresOf(
      const std::vector<Sides>& lines, const std::vector<CleaningRules::Verdict>& verdicts) const {
    std::vector<std::optional<double>> scores(lines.size());
    if (scorers_ == nullptr) return scores;
    std::vector<std::string> sources, targets;
    std::vector<size_t> places;
    for (size_t i = 0; i < lines.size(); ++i) {
      if (verdicts[i].fault != Fault::kNone || WasSeen(verdicts[i])) continue;
      places.push_back(i);
      sources.emplace_back(lines[i][0]);
      targets.emplace_back(lines[i][1]);
    }
    ScoreOptions scoring;
    scoring.batch_tokens = options_.batch_tokens;
    const auto found = scorers_->Score(sources, targets, scoring);
    for (size_t i = 0; i < places.size(); ++i) scores[places[i]] = found[i];
    return scores;
  }

  const CleanOptions& options_;
  const size_t sides_;
  const CleaningRules rules_;
  SeenHashes seen_;
  const std::unique_ptr<const DualCrossEntropy> scorers_;
  ThreadPool pool_;
};

// Of the lines without a fault, those that are not among the best share get one. Of equal scores
// the first lines stay.
void KeepBest(double share, Judged* judged) {
  const std::vector<float>& scores = judged->scores;
  // A product such as 0.29 * 100 may be a little less than the whole number that is meant.
  constexpr double kRounding = 1 + 1e-12;
  const auto kept = static_cast<int64_t>(share * static_cast<double>(scores.size()) * kRounding);
  if (kept == std::ssize(scores)) return;
  std::vector<float> order = scores;
  std::ranges::nth_element(order, order.begin() + kept, std::greater<>());
  const float least = order[kept];  // the best of those that go
  int64_t equal = kept - std::ranges::count_if(scores, [&](float one) { return one > least; });
  auto score = scores.begin();
  for (Fault& fault : judged->faults) {
    if (fault != Fault::kNone) continue;
    const float own = *score++;
    const bool stays = own > least || (own == least && equal-- > 0);
    if (!stays) fault = Fault::kShare;
  }
}

// What becomes of the lines.
class Results {
 public:
  explicit Results(const CleanOptions& options) {
    for (const std::string& path : options.output)
      outputs_.push_back(std::make_unique<CleanOutput>(path));
    if (!options.dropped.empty()) dropped_ = std::make_unique<CleanOutput>(options.dropped);
    if (!options.report.empty()) report_file_ = std::make_unique<AtomicFile>(options.report);
    as_page_ = options.report.ends_with(".md");
  }

  void Add(const CleanInput& input, std::span<const Fault> faults) {
    for (size_t i = 0; i < faults.size(); ++i) {
      const Fault fault = faults[i];
      const Sides& sides = input.lines()[i];
      const int64_t number = input.windows().number() + static_cast<int64_t>(i);
      report_.Add(fault, number, sides);
      if (fault == Fault::kNone) {
        const std::vector<std::string_view> whole = input.Whole(i);
        for (size_t file = 0; file < outputs_.size(); ++file) outputs_[file]->Write(whole[file]);
      } else if (dropped_ != nullptr) {
        dropped_->Write(DroppedLine(number, FaultName(fault), sides));
      }
    }
  }

  // The files appear.
  void Commit() {
    for (const auto& output : outputs_) output->Commit();
    if (dropped_ != nullptr) dropped_->Commit();
    if (report_file_ == nullptr) return;
    report_file_->Write(as_page_ ? report_.Markdown() : report_.ToJson().dump(2) + "\n");
    report_file_->Commit();
  }

  const CleaningReport& report() const { return report_; }

 private:
  std::vector<std::unique_ptr<CleanOutput>> outputs_;
  std::unique_ptr<CleanOutput> dropped_;
  std::unique_ptr<AtomicFile> report_file_;
  bool as_page_ = false;
  CleaningReport report_;
};

// Calls use(input) for each window.
template <class Use>
void ForEachWindow(CleanInput* input, Progress* progress, const Use& use) {
  while (input->Next()) {
    use(*input);
    const int64_t lines = std::ssize(input->lines());
    progress->Add(input->windows().number() + lines - 1, lines, 0, input->windows().Fraction());
  }
}

// With what is known of all lines before any is written.
void RunTwice(const CleanOptions& options, const std::vector<std::string>& paths, int threads,
              Judge* judge, Progress* progress, Results* results) {
  const bool table = !options.pairs.empty();
  Judged judged;
  CleanInput first(paths, table, threads);
  ForEachWindow(&first, progress, [&](const CleanInput& input) {
    const Judged window = judge->Of(input);
    judged.faults.insert(judged.faults.end(), window.faults.begin(), window.faults.end());
    judged.scores.insert(judged.scores.end(), window.scores.begin(), window.scores.end());
  });
  KeepBest(options.keep_best, &judged);
  CleanInput second(paths, table, threads);
  while (second.Next()) {
    const auto first_line = static_cast<size_t>(second.windows().number() - 1);
    if (first_line + second.lines().size() > judged.faults.size()) break;
    results->Add(second, std::span(judged.faults).subspan(first_line, second.lines().size()));
  }
  if (!second.lines().empty() || results->report().lines() != std::ssize(judged.faults)) {
    throw Error(ErrorKind::kInput,
                fmt::format("{} changed while it was read; start again", second.windows().name()));
  }
}

void Run(const CleanOptions& options, const CommonOptions& common,
         const CommandLine& command_line) {
  const int threads = common.ThreadCount();
  CheckModels(options);
  CheckRules(options, command_line);
  const std::vector<std::string> paths = InputsOf(options, common);
  CheckOutputs(options, paths);
  const bool asked = command_line.IsSet("detect_language");
  Judge judge(options, CleaningRules(options.rules, MakeDetector(options.rules, asked)), threads);
  WarnOfDetector(options.rules, common.MakeLog());
  Results results(options);
  Progress progress(common.quiet ? 0 : options.progress, isatty(STDERR_FILENO) == 1,
                    common.MakeLog());
  progress.Start(0);
  if (options.reads_twice()) {
    RunTwice(options, paths, threads, &judge, &progress, &results);
  } else {
    CleanInput input(paths, !options.pairs.empty(), threads);
    ForEachWindow(&input, &progress,
                  [&](const CleanInput& window) { results.Add(window, judge.Of(window).faults); });
  }
  progress.End();
  results.Commit();
  common.MakeLog()(LogLevel::kInfo, results.report().Text());
  if (results.report().kept() == 0)
    common.MakeLog()(LogLevel::kWarning, "no line was kept; the report tells why");
  PrintReport(common, results.report().ToJson());
}

}  // namespace

int RunClean(const std::vector<std::string>& arguments) {
  CommonOptions common;
  CleanOptions options;
  CommandLine command_line(
      "clean", "drop lines of parallel text, or of text of one language, not worth training on",
      "attend clean --source raw.en --target raw.de --output clean.en clean.de\n"
      "attend clean --pairs raw.tsv.gz --source-language en --target-language de --output "
      "clean.tsv --dropped dropped.tsv --report report.md\n"
      "attend clean --source raw.de --source-language de --output clean.de\n"
      "attend clean --source raw.en --target raw.de --output clean.en clean.de --model EN-DE "
      "--reverse-model DE-EN --keep-best 0.8");
  command_line.Options(Fields(options))
      .Options(Fields(common, {"threads", "quiet", "json", "data_dir"}))
      .Required({"output"});
  if (!command_line.Parse(arguments)) return 0;
  Run(options, common, command_line);
  return 0;
}

}  // namespace attend
