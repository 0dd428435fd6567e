// `attend bench translate`: the speed of translation, beside what the machine could do.
#include <fmt/format.h>

#include <iostream>

#include "attend/error.h"
#include "attend/translator.h"
#include "cli/bench/benchmarks.h"
#include "cli/bench/model_benchmark.h"
#include "tasks/translation/translation_options.h"
#include "text/lines.h"

namespace attend {
namespace {

struct TranslateBenchOptions {
  ModelBenchOptions model{.preset = "base"};
  std::string input;
  int64_t sentences = 64, source_length = 24, target_length = 32;
  TranslatorOptions translator;
  // The bound on what runs together is on sentences alone.
  TranslationOptions translation = {.beam_size = 1, .batch_tokens = int64_t{1} << 40};
};

FieldList TranslateFields(TranslateBenchOptions& options) {
  FieldList fields = ModelFields(options.model, "base, big, tiny or student");
  fields.Nest("", Fields(options.translator).Select({"shortlist"}))
      .Add("input", &options.input, "text to translate, real lengths; none: random sentences")
      .Add("sentences", &options.sentences, 1, 1e6, "random sentences")
      .Add("source_length", &options.source_length, 1, 10000, "tokens of a random sentence")
      .Add("target_length", &options.target_length, 1, 10000, "tokens of each output")
      .Nest("", RepeatFields(options.model, "sentences"))
      .Nest("", Fields(options.translation).Select({"max_length", "beam_size", "length_penalty"}));
  return fields;
}

struct Work {
  std::vector<std::vector<int32_t>> sources;
  int64_t words = 0;  // white-space words of a text
};

void CheckTranslate(const CommandLine& command_line, const TranslateBenchOptions& options) {
  const bool text = !options.input.empty(), model = !options.model.model.empty();
  const std::string sentences = "is for random sentences; leave out it or --input";
  RefuseUnused(command_line, UnusedModelOptions(options.model));
  RefuseUnused(command_line,
               {{"shortlist", !model, "is for --model"},
                {"sentences", text, sentences},
                {"source_length", text, sentences},
                {"target_length", text, "is for random sentences; for --input give --max-length"},
                {"max_length", !text, "is for --input; random sentences take --target-length"}});
  if (!model && text)
    throw Error(ErrorKind::kUsage, "attend bench: --input needs a vocabulary; give --model too");
}

// Options that follow from others.
void Complete(const CommonOptions& common, TranslateBenchOptions* options) {
  options->input = common.DataPath(options->input);
  if (options->input.empty()) {
    options->translation.min_length = options->translation.max_length = options->target_length;
  }
  options->translation.scores = false;
  options->translation.batch_sentences = options->model.batch_size;
  options->translator.threads = common.ThreadCount();
  options->translator.type = options->model.weight_type();
}

Work ReadText(const std::string& path, const Translator& translator) {
  Work work;
  LineReader reader(path);
  std::string line;
  while (reader.Next(&line)) {
    work.words += CountWords(line);
    work.sources.push_back(translator.Encode(line));
  }
  if (work.words > 0) return work;
  throw Error(ErrorKind::kInput, fmt::format("{} has no text, expected some to translate", path));
}

Json PartsJson(const WorkSeconds& work) {
  const std::vector<std::pair<const char*, double>> parts = {
      {"encoder", work.encoder},
      {"self_attention", work.self_attention},
      {"cross_attention", work.cross_attention},
      {"feed_forward", work.feed_forward},
      {"output", work.output},
      {"search", work.search},
      {"rest", work.rest}};
  double sum = 0;
  for (const auto& [name, seconds] : parts) sum += seconds;
  Json json = Json::object();
  for (const auto& [name, seconds] : parts) json[name] = sum > 0 ? seconds / sum : 0.0;
  return json;
}

void AddWork(const TranslateBenchOptions& options, const Work& work, int64_t target_tokens,
             Json* report) {
  Json& json = *report;
  const double seconds = json["seconds"];
  json["sentences"] = work.sources.size();
  if (options.input.empty()) {
    json["source_length"] = options.source_length;
    json["target_length"] = options.target_length;
  } else {
    json["input"] = options.input;
    json["source_words_per_s"] = static_cast<double>(work.words) / seconds;
  }
  json["beam_size"] = options.translation.beam_size;
  json["length_penalty"] = options.translation.length_penalty;
  json["target_tokens"] = target_tokens;
  json["target_tokens_per_s"] = static_cast<double>(target_tokens) / seconds;
}

void PrintTranslateReport(const Json& report) {
  const auto number = [&](const char* name) { return report[name].get<double>(); };
  std::cout << fmt::format("target tokens a second  {:>10.1f}\n", number("target_tokens_per_s"));
  if (report.contains("source_words_per_s")) {
    std::cout << fmt::format("source words a second   {:>10.1f}\n", number("source_words_per_s"));
  }
  PrintMeasurement(report);
  std::cout << "\ntime by part\n";
  for (const auto& [name, share] : report["parts"].items()) {
    std::cout << fmt::format("  {:<22}{:>8.1f} %\n", name, 100 * share.get<double>());
  }
}

// Once more with the clock on every part, which takes time of its own.
WorkSeconds MeasureParts(TranslationOptions options, const Translator& translator,
                         const Work& work) {
  WorkSeconds seconds;
  options.work = &seconds;
  translator.TranslateIds(work.sources, options);
  return seconds;
}

}  // namespace

int RunBenchTranslate(const std::vector<std::string>& arguments) {
  CommonOptions common;
  common.threads = 1;
  TranslateBenchOptions options;
  CommandLine command_line("bench translate", "measure the speed of translation",
                           "attend bench translate --preset base --beam-size 4\n"
                           "attend bench translate --model MODEL --input test.en --batch-size 1 "
                           "--json");
  command_line.Options(TranslateFields(options))
      .Options(Fields(common, {"threads", "seed", "json", "data_dir"}));
  if (!command_line.Parse(arguments)) return 0;
  CheckTranslate(command_line, options);
  Complete(common, &options);
  LoadTimer timer(options.model, common.seed);
  const auto model = timer.Read();
  const Translator translator(model, options.translator);
  const double load_seconds = timer.Seconds();
  Work work;
  if (options.input.empty()) {
    work.sources =
        RandomTexts(model->config, options.sentences, options.source_length, common.seed);
  } else {
    work = ReadText(options.input, translator);
  }
  int64_t target_tokens = 0;  // of all sentences, which run first; eos not counted
  const auto run = [&](int64_t first, int64_t size) {
    const std::vector<Translation> translations =
        translator.TranslateIds(std::span(work.sources).subspan(first, size), options.translation);
    if (size < std::ssize(work.sources)) return;
    target_tokens = 0;
    for (const Translation& each : translations)
      target_tokens += std::ssize(each.hypotheses[0].ids);
  };
  BenchMeasurement measurement = Measure(options.model, std::ssize(work.sources), run);
  measurement.load_seconds = load_seconds;
  Json report = Json::object();
  AddToReport(options.model, measurement, &report);
  AddWork(options, work, target_tokens, &report);
  report["parts"] = PartsJson(MeasureParts(options.translation, translator, work));
  AddMachine(*model, options.model, translator.instruction_set(), common.ThreadCount(), &report);
  PrintReport(common, report, PrintTranslateReport);
  return 0;
}

}  // namespace attend
