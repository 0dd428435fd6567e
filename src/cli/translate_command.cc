// `attend translate`: line in, line out.
#include "cli/translate_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "attend/error.h"
#include "attend/translator.h"
#include "base/json.h"
#include "base/sha256.h"
#include "cli/command_line.h"
#include "cli/line_windows.h"
#include "cli/memory_options.h"
#include "cli/translate/output.h"
#include "cli/translate/progress.h"
#include "cli/translate/shard.h"
#include "cli/translate/stop_signals.h"
#include "cli/translate/translation_counts.h"
#include "memory/memory_file.h"
#include "model/adapted_model.h"
#include "tasks/loaded_model.h"
#include "tasks/translation/line_batch.h"
#include "tasks/translation/matched_text.h"
#include "tasks/translation/sentence_splitting.h"
#include "tasks/translation/translation_json.h"
#include "tasks/translation/translation_options.h"
#include "tasks/translation/translation_search.h"
#include "text/lines.h"

namespace attend {
namespace {

struct TranslateOptions {
  std::vector<std::string> model;  // one, or several that search together
  std::vector<double> model_weights;
  std::string adapter, input = "-", output = "-", device = kEngine;
  TranslatorOptions translator;
  bool resume = false;
  std::string shard;
  double progress = 30;
  bool scores = false, json = false;
  std::string target_prefix, glossary;  // files
  MemoryOptions memory;
  LineOptions lines;
  TranslationOptions translation;
};

FieldList Fields(TranslateOptions& options) {
  FieldList fields;
  fields
      .Add(
          "model", &options.model,
          "the model directory; several, of equal vocabularies, translate together by the weighted "
          "mean of their log-probabilities")
      .Add("model_weights", &options.model_weights, 0, 1e6,
           "of several models: a number for each, which are divided by their sum; without them all "
           "weigh the same")
      .Nest("", AdapterField(&options.adapter))
      .Nest("", Fields(options.translator))
      .Nest("", DeviceField(&options.device))
      .Add("input", &options.input, "text to translate, a sentence a line; -: standard input")
      .Add("output", &options.output,
           "output file, compressed if the name ends in .gz or .zst; -: standard output. The file "
           "appears when it is complete; until then its text is in FILE.partial")
      .Add("resume", &options.resume,
           "continue from FILE.partial of an interrupted call, if there is one")
      .Add("shard", &options.shard,
           "I/N: translate the Ith of N equal ranges of the input file's lines; the outputs of 1/N "
           "to N/N, concatenated, equal that of the whole file")
      .Add("progress", &options.progress, 0, 1e9,
           "seconds between progress lines on standard error (on a terminal one line is updated "
           "each second); 0: no progress lines")
      .Add("scores", &options.scores, "write `text ||| score`")
      .Add("json", &options.json,
           "write a JSON object for each line, with its hypotheses and what was asked of them")
      .Add("target_prefix", &options.target_prefix,
           "file with a line for each line of the input: the words that its translation begins "
           "with, as the model writes them; empty: any. A line with such words is not divided")
      .Add("glossary", &options.glossary,
           "file of terms that translations must hold, a term a line: source, target and flags "
           "(ignore-case, inflect-source, inflect, keep), divided by tabs")
      .Nest("", Fields(options.memory))
      .Nest("", MemoryFields(options.lines))
      .Nest("", Fields(options.lines))
      .Nest("", Fields(options.translation));
  return fields;
}

// Options that decide when and where, but no byte of the output.
constexpr const char* kWithoutEffect[] = {"model",  "adapter",  "input",           "output",
                                          "resume", "progress", "batch_sentences", "batch_tokens"};

// What another call must share to go on with this one's output.
JobKey KeyOf(TranslateOptions options, const std::optional<std::pair<int64_t, int64_t>>& lines) {
  JobKey key{.program = ProgramVersion()};
  if (!options.translator.shortlist.empty())
    options.translator.shortlist = Sha256OfFile(options.translator.shortlist);
  // Only a job with an output file is continued; a pipe can't be read before it runs.
  for (std::string* path : {&options.target_prefix, &options.glossary, &options.memory.path}) {
    if (!path->empty() && options.output != "-") *path = Sha256OfFile(*path);
  }
  key.settings = FieldsToJson(Fields(options));
  for (const char* name : kWithoutEffect) key.settings.erase(name);
  // It has the digests of the directory's other files.
  const auto digest_of = [](const std::filesystem::path& directory) {
    return Sha256OfFile(directory / "config.json");
  };
  if (options.model.size() == 1) {
    key.settings["model"] = digest_of(options.model[0]);
  } else {
    key.settings["model"] = Json::array();
    for (const std::string& directory : options.model)
      key.settings["model"].push_back(digest_of(directory));
  }
  if (!options.adapter.empty()) key.settings["adapter"] = digest_of(options.adapter);
  const std::string& estimator = options.translator.estimator;
  if (!estimator.empty()) key.settings["estimator"] = digest_of(estimator);
  if (lines) key.settings["lines"] = {{"first", lines->first}, {"last", lines->second}};
  return key;
}

// Words in doubt with their probabilities in percent, such as ` Holz (12) am (25)`.
std::string DoubtfulText(const Hypothesis& hypothesis) {
  const std::vector<std::string> words = WordsOfLine(hypothesis.text);
  std::string doubtful;
  for (const int64_t word : hypothesis.DoubtfulWords())
    doubtful += fmt::format(" {} ({:.0f})", words.at(word), hypothesis.word_quality[word]);
  return doubtful;
}

std::string FormatLine(int64_t line, const Hypothesis& hypothesis,
                       const TranslateOptions& options) {
  std::string text = options.translation.n_best > 1 ? fmt::format("{} ||| ", line) : "";
  text += hypothesis.text;
  if (options.scores || options.translation.n_best > 1) {
    text += fmt::format(" ||| {:.6f}", hypothesis.score);
  }
  if (options.translation.alignments) {
    text += " |||";
    for (const AlignmentLink& link : hypothesis.alignment) {
      text += fmt::format(" {}-{}", link.source, link.target);
    }
  }
  if (options.translation.quality)
    text += fmt::format(" ||| {:.1f} |||{}", hypothesis.quality, DoubtfulText(hypothesis));
  return text + '\n';
}

std::string FormatTranslation(int64_t line, const Translation& translation,
                              const TranslateOptions& options) {
  if (options.json) return Dump(TranslationToJson(translation, options.translation)) + '\n';
  std::string text;
  for (const Hypothesis& hypothesis : translation.hypotheses)
    text += FormatLine(line, hypothesis, options);
  return text;
}

// One call of the command, once all is read and checked.
struct TranslateCall {
  const TranslateOptions& options;
  const Translator& translator;
  const Model& model;
  LineWindows* window;
  TranslationOutput* out;
  Progress* progress;
  TranslationCounts* counts;

  void Run(const std::function<std::unique_lock<std::timed_mutex>()>& work) const;
  // What was repaired, cut, divided or unknown so far.
  void Report(const Log& log) const;
  void TranslateWindow() const;
};

// A line that can't be translated ends the run, after those before it.
void TranslateCall::TranslateWindow() const {
  LineBatch batch(&translator, model, options.lines);
  int64_t number = window->number();
  std::exception_ptr refused;
  for (size_t i = 0; i < window->lines().size(); ++i) {
    try {
      batch.Add(window->lines()[i], fmt::format("line {}", number++),
                options.target_prefix.empty() ? "" : window->lines(1)[i]);
    } catch (const Error&) {
      refused = std::current_exception();
      break;
    }
  }
  number = window->number();
  std::string text;
  int64_t tokens = 0;
  const std::vector<Translation> translations = batch.Translate(options.translation);
  for (const Translation& translation : translations) {
    text += FormatTranslation(number - 1, translation, options);
    tokens += std::ssize(translation.hypotheses[0].ids);
    ++number;
  }
  out->Write(window->lines(), translations.size(), text);
  // A later call counts lines that could not be written.
  for (size_t i = 0; i < translations.size(); ++i) {
    counts->Add(window->number() + static_cast<int64_t>(i), translations[i]);
  }
  progress->Add(number - 1, std::ssize(translations), tokens, window->Fraction());
  if (refused) std::rethrow_exception(refused);
}

// What is finished is written under `work`.
void TranslateCall::Run(const std::function<std::unique_lock<std::timed_mutex>()>& work) const {
  out->PassFinished(window);
  progress->Start(window->Fraction());
  while (window->Next()) {
    const auto working = work();
    TranslateWindow();
  }
  out->Finish();
  const auto working = work();
  out->Commit();
  progress->End();
}

void TranslateCall::Report(const Log& log) const {
  window->ReportMalformed(log);
  counts->Report(log);
}

// An error says too what is kept of the work.
void RunToFile(const TranslateCall& call, const Log& log) {
  StopSignals signals([&] {
    call.Report(log);
    std::string left = call.out->Leave();
    if (left.empty())
      left = call.out->IsComplete() ? "the output is complete" : "no line was finished";
    call.progress->Say(LogLevel::kWarning, fmt::format("stopped by a signal; {}", left));
  });
  try {
    call.Run([&] { return signals.Work(); });
  } catch (const Error& error) {
    const std::string left = call.out->Leave();
    if (left.empty()) throw;
    throw Error(error.kind(), fmt::format("{}; {}", error.what(), left));
  } catch (const std::exception&) {
    const std::string left = call.out->Leave();
    if (!left.empty()) call.progress->Say(LogLevel::kWarning, left);
    throw;
  }
}

// The shard's lines; nothing for a whole file.
std::optional<std::pair<int64_t, int64_t>> LinesOf(const LineShard& shard,
                                                   const std::string& path) {
  if (shard.IsWhole()) return std::nullopt;
  std::error_code ignored;
  if (path == "-" || (std::filesystem::exists(path, ignored) &&
                      !std::filesystem::is_regular_file(path, ignored))) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--shard counts the lines of a file before it takes some of them, and "
                            "--input is {}; give it a file's name",
                            path == "-" ? "standard input" : "'" + path + "', no regular file"));
  }
  return shard.LinesOf(CountLines(path));
}

// The path of the file of target prefixes, which a job that is continued reads twice.
void TakeTargetPrefix(const CommonOptions& common, TranslateOptions* options) {
  if (options->target_prefix.empty()) return;
  CheckTargetPrefix(options->translation);
  if (options->target_prefix == "-")
    throw Error(ErrorKind::kUsage, "target_prefix is standard input, expected a file's name");
  options->target_prefix = common.DataPath(options->target_prefix);
}

// Paths of data, which --data-dir begins.
void ReadPaths(const CommonOptions& common, TranslateOptions* options) {
  TakeTargetPrefix(common, options);
  options->input = common.DataPath(options->input);
  options->memory.path = common.DataPath(options->memory.path);
  if (!options->glossary.empty()) options->glossary = common.DataPath(options->glossary);
}

// Files that are read line by line together.
std::vector<std::string> FilesOf(const TranslateOptions& options) {
  if (options.target_prefix.empty()) return {options.input};
  return {options.input, options.target_prefix};
}

// Its threads leave SIGINT and SIGTERM to others. `first`: the first of the models.
std::unique_ptr<const Translator> MakeTranslator(std::shared_ptr<const Model> first,
                                                 const TranslateOptions& options,
                                                 const RunOnDevice& run_on_device) {
  const BlockedSignals blocked;
  if (options.device != kEngine) {
    return std::make_unique<const Translator>(run_on_device(std::move(first), options.device),
                                              options.translator);
  }
  std::vector<std::shared_ptr<const LoadedModel>> models = {
      LoadWith(std::move(first), options.translator)};
  for (size_t i = 1; i < options.model.size(); ++i)
    models.push_back(LoadWith(LoadModel(options.model[i]), options.translator));
  return std::make_unique<const Translator>(std::move(models), options.model_weights,
                                            options.translator);
}

// Loads the memory, if one is named.
void TakeMemory(const Model& model, const CommandLine& command_line, TranslateOptions* options) {
  const MemoryOptions& given = options->memory;
  if (given.path.empty()) return;
  options->lines.memory = LoadMemory(given.path, given.source, given.target);
  options->lines.reads_matches =
      ReadsMatches(*Vocabulary::FromBytes(model.source_vocabulary, "the source vocabulary"));
  if (options->lines.reads_matches) return;
  const char* unused = !options->lines.memory_exact             ? "memory_exact is false"
                       : command_line.IsSet("memory_threshold") ? "memory_threshold is given"
                                                                : nullptr;
  if (unused == nullptr) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("{}, and the model reads no matches: it has no token {}, so that the "
                          "memory gives exact matches alone",
                          unused, kMemoryToken));
}

void CheckEstimator(const TranslateOptions& options) {
  if (options.translator.estimator.empty() || options.translation.quality) return;
  throw Error(ErrorKind::kUsage,
              "estimator is given without quality, which it estimates; add --quality or leave "
              "--estimator out");
}

// LibTorch runs weights as f32, and all of the vocabulary.
void CheckDevice(const TranslateOptions& options) {
  CheckForEngine(options.device, options.translator.type == WeightType::kInt8, "type int8");
  CheckForEngine(options.device, !options.translator.shortlist.empty(), "shortlist");
  CheckForEngine(options.device, options.model.size() > 1, "more than one model");
}

void CheckModels(const TranslateOptions& options) {
  if (options.model.size() > 1 && !options.adapter.empty()) {
    throw Error(
        ErrorKind::kUsage,
        "adapter is for one model, and several are given; `attend export --adapter` makes a "
        "model of one with its adapter");
  }
}

// What is given and would change nothing.
void CheckUsed(const TranslationOptions& options, const CommandLine& command_line) {
  const bool draws = Draws(options);
  const std::tuple<const char*, bool, const char*> given[] = {
      {"mbr_samples", options.mbr != MbrUtility::kNone, "is of mbr; give mbr, too"},
      {"alignment_layer", options.alignments, "is of alignments; give alignments, too"},
      {"beam_size", !draws, "is for beam search; leave it out where outputs are drawn"},
      {"diversity", !draws && options.beam_groups > 1,
       "is of groups of a beam; give beam_groups, too"}};
  for (const auto& [name, used, why] : given) {
    if (!used && command_line.IsSet(name))
      throw Error(ErrorKind::kUsage, fmt::format("{} {}", name, why));
  }
}

constexpr const char* kTranslateExamples =
    "attend translate --model MODEL --input test.en --output test.de\n"
    "echo 'A dog runs.' | attend translate --model MODEL --scores\n"
    "attend translate --model MODEL --quality --input test.en\n"
    "attend translate --model MODEL --quality --json --input test.en --output test.jsonl\n"
    "attend translate --model MODEL --quality --estimator ESTIMATOR --input test.en\n"
    "attend translate --model MODEL --input all.en.gz --output all.de.gz --resume --shard 3/8\n"
    "attend translate --model A --model B --model-weights 0.6 0.4 --input test.en\n"
    "attend translate --model MODEL --sample --top-k 20 --input plain.de --output back.en\n"
    "attend translate --model MODEL --glossary terms.tsv --input test.en\n"
    "attend translate --model MODEL --memory units.tmx --input test.en\n"
    "attend translate --model LSTM --device cpu --input test.en";

}  // namespace

FieldList DeviceField(std::string* device) {
  return FieldList().Add(
      "device", device,
      "what runs the model: engine is attend's own, on the CPU; cpu and cuda are LibTorch's, "
      "and run models of other architectures than the transformer too");
}

void CheckForEngine(const std::string& device, bool given, const char* name) {
  if (!given || device == kEngine) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("{} is for device engine, and device is {}; leave one of them out", name,
                          device));
}

int Translate(const std::vector<std::string>& arguments, const RunOnDevice& run_on_device) {
  CommonOptions common;
  TranslateOptions options;
  CommandLine command_line("translate", "translate text, line by line", kTranslateExamples);
  command_line.Options(Fields(options))
      .Options(Fields(common, {"threads", "quiet", "data_dir"}))
      .Required({"model"});
  if (!command_line.Parse(arguments)) return 0;
  options.translation.scores = options.scores || options.json;
  ReadPaths(common, &options);
  if (!options.glossary.empty()) options.translation.glossary = Glossary::Load(options.glossary);
  CheckTranslationOptions(options.translation);
  CheckUsed(options.translation, command_line);
  CheckDevice(options);
  CheckModels(options);
  CheckEstimator(options);
  CheckMemoryIsNamed(options.memory, command_line);
  const LineShard shard = LineShard::Parse(options.shard);
  options.translator.threads = common.ThreadCount();
  options.lines.keep_line_ends = false;
  const auto model = LoadModelWith(options.model[0], options.adapter);
  const auto translator = MakeTranslator(model, options, run_on_device);
  TakeMemory(*model, command_line, &options);
  const bool terminal = TranslationOutput::IsTerminal(options.output);
  const auto lines = LinesOf(shard, options.input);
  LineWindows window(FilesOf(options), terminal, common.ThreadCount());
  if (lines) window.TakeOnly(lines->first, lines->second);
  Progress progress(terminal || common.quiet ? 0 : options.progress, isatty(STDERR_FILENO) == 1,
                    common.MakeLog());
  const Log log = [&](LogLevel level, std::string_view message) { progress.Say(level, message); };
  TranslationCounts counts(InputLimit(options.lines.max_input_tokens, options.lines.split_sentences,
                                      model->training_text, translator->max_input_tokens()));
  TranslationOutput out(options.output, KeyOf(options, lines), options.resume, log);
  const TranslateCall call{options, *translator, *model, &window, &out, &progress, &counts};
  try {
    if (out.IsFile()) {
      RunToFile(call, log);
    } else {
      call.Run([] { return std::unique_lock<std::timed_mutex>(); });
    }
  } catch (...) {
    call.Report(log);
    throw;
  }
  call.Report(log);
  return 0;
}

}  // namespace attend
