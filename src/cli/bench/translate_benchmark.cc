// `attend bench translate`: the speed of translation, beside what the machine could do. `attend
// bench train` is handed on to the program that has LibTorch.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <tuple>

#include "attend/error.h"
#include "attend/translator.h"
#include "base/edit_distance.h"
#include "base/json.h"
#include "base/random.h"
#include "cli/bench/machine.h"
#include "cli/bench/quantile.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "model/quantize.h"
#include "model/random_tensors.h"
#include "tasks/translation/translation_options.h"
#include "text/lines.h"

namespace attend {
namespace {

enum class BenchType { kStored, kF32, kFloat32, kInt8 };

struct BenchOptions {
  std::string what, model, preset = "base", input;
  BenchType type = BenchType::kStored;
  int64_t vocab_size = 32000, sentences = 64, source_length = 24, target_length = 32, repeats = 3;
  TranslatorOptions translator;
  // The bound on what runs together is on sentences alone.
  TranslationOptions translation = {
      .beam_size = 1, .batch_sentences = 32, .batch_tokens = int64_t{1} << 40};
};

FieldList Fields(BenchOptions& options) {
  FieldList fields;
  fields.Add("model", &options.model, "the model directory; none: random weights of `preset`")
      .Add("preset", &options.preset, "shape of random weights: base, big, tiny or student")
      .Add("vocab_size", &options.vocab_size, 8, 1 << 24, "vocabulary of random weights")
      .Add("type", &options.type, {"stored", "f32", "float32", "int8"},
           "numbers that weights run as; float32 is f32")
      .Nest("", Fields(options.translator).Select({"shortlist"}))
      .Add("input", &options.input, "text to translate, real lengths; none: random sentences")
      .Add("sentences", &options.sentences, 1, 1e6, "random sentences")
      .Add("source_length", &options.source_length, 1, 10000, "tokens of a random sentence")
      .Add("target_length", &options.target_length, 1, 10000, "tokens of each output")
      .Add("batch_size", &options.translation.batch_sentences, 1, 100000,
           "maximum number of sentences that run together on a thread")
      .Nest("", Fields(options.translation).Select({"max_length", "beam_size", "length_penalty"}))
      .Add("repeats", &options.repeats, 1, 1000,
           "times that all is translated, of which the best counts, and then batch by batch");
  return fields;
}

using Sentences = std::vector<std::vector<int32_t>>;

struct Work {
  Sentences sources;
  int64_t words = 0;  // white-space words of a text
};

struct Result {
  double load_seconds = 0;
  double best_seconds = 0;            // for all sentences
  int64_t target_tokens = 0;          // eos not counted
  std::vector<double> batch_seconds;  // of each batch, rising
  WorkSeconds work;
  double peak_bytes = 0;
};

// Options that what is measured would leave unused.
void RefuseUnused(const CommandLine& command_line, const BenchOptions& options) {
  const bool text = !options.input.empty(), model = !options.model.empty();
  const std::string weights = "is for random weights; leave out it or --model";
  const std::string sentences = "is for random sentences; leave out it or --input";
  const std::vector<std::tuple<const char*, bool, std::string>> rules = {
      {"preset", model, weights},
      {"vocab_size", model, weights},
      {"shortlist", !model, "is for --model"},
      {"sentences", text, sentences},
      {"source_length", text, sentences},
      {"target_length", text, "is for random sentences; for --input give --max-length"},
      {"max_length", !text, "is for --input; random sentences take --target-length"}};
  for (const auto& [option, unused, why] : rules) {
    if (!unused || !command_line.IsSet(option)) continue;
    std::string flag = fmt::format("--{}", option);
    std::replace(flag.begin(), flag.end(), '_', '-');
    throw Error(ErrorKind::kUsage, fmt::format("attend bench: {} {}", flag, why));
  }
}

void Check(const CommandLine& command_line, const BenchOptions& options) {
  if (options.what != "translate") {
    throw Error(ErrorKind::kUsage,
                fmt::format("attend bench: unknown benchmark '{}', expected translate, or train as "
                            "the first argument{}",
                            options.what, DidYouMean(options.what, {"translate", "train"})));
  }
  RefuseUnused(command_line, options);
  if (options.model.empty() && !options.input.empty()) {
    throw Error(ErrorKind::kUsage, "attend bench: --input needs a vocabulary; give --model too");
  }
}

WeightType TypeOf(BenchType type) {
  if (type == BenchType::kStored) return WeightType::kStored;
  return type == BenchType::kInt8 ? WeightType::kInt8 : WeightType::kF32;
}

// Options that follow from others.
void Complete(const CommonOptions& common, BenchOptions* options) {
  options->input = common.DataPath(options->input);
  if (options->input.empty()) {
    options->translation.min_length = options->translation.max_length = options->target_length;
  }
  options->translation.scores = false;
  options->translator.threads = common.ThreadCount();
  options->translator.type = TypeOf(options->type);
}

std::shared_ptr<const Model> MakeModel(const BenchOptions& options, uint64_t seed) {
  if (!options.model.empty()) return LoadModel(options.model);
  auto model = std::make_shared<Model>();
  model->config = PresetConfig(options.preset);
  model->config.source_vocab_size = model->config.target_vocab_size = options.vocab_size;
  model->tensors = RandomTensors(model->config, seed, 0.02);
  return WithWeights(model, options.translator.type);
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

Work RandomWork(const BenchOptions& options, const ModelConfig& config, uint64_t seed) {
  Random random({seed, 1});
  const SpecialIds& ids = config.special_ids;
  const int64_t first = 1 + std::max({ids.pad, ids.unk, ids.bos, ids.eos});
  const int64_t count = std::max<int64_t>(config.source_vocab_size - first, 1);
  Work work{Sentences(options.sentences, std::vector<int32_t>(options.source_length))};
  for (std::vector<int32_t>& sentence : work.sources) {
    for (int32_t& id : sentence) {
      id = static_cast<int32_t>(std::min(first, config.source_vocab_size - 1) +
                                static_cast<int64_t>(random.Below(count)));
    }
  }
  return work;
}

// All sentences at once.
void MeasureRate(const BenchOptions& options, const Translator& translator,
                 const Sentences& sources, Result* result) {
  for (int64_t i = 0; i < options.repeats; ++i) {
    const double begin = SteadySeconds();
    const std::vector<Translation> translations =
        translator.TranslateIds(sources, options.translation);
    const double seconds = SteadySeconds() - begin;
    if (i == 0 || seconds < result->best_seconds) result->best_seconds = seconds;
    result->target_tokens = 0;
    for (const Translation& each : translations) {
      result->target_tokens += std::ssize(each.hypotheses[0].ids);
    }
  }
}

// Batch after batch, alone, `repeats` times or until there are enough for a quantile.
void MeasureLatency(const BenchOptions& options, const Translator& translator,
                    const Sentences& sources, Result* result) {
  constexpr int64_t kEnough = 100;
  std::vector<double>& seconds = result->batch_seconds;
  const int64_t count = std::ssize(sources);
  for (int64_t i = 0; i < options.repeats && std::ssize(seconds) < kEnough; ++i) {
    for (int64_t first = 0; first < count; first += options.translation.batch_sentences) {
      const int64_t size = std::min(options.translation.batch_sentences, count - first);
      const double begin = SteadySeconds();
      translator.TranslateIds(std::span(sources).subspan(first, size), options.translation);
      seconds.push_back(SteadySeconds() - begin);
    }
  }
  std::sort(seconds.begin(), seconds.end());
}

// Once more with the clock on every part, which takes time of its own.
void MeasureParts(const BenchOptions& options, const Translator& translator,
                  const Sentences& sources, Result* result) {
  TranslationOptions translation = options.translation;
  translation.work = &result->work;
  translator.TranslateIds(sources, translation);
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

Json ReportJson(const BenchOptions& options, const Result& result, const Work& work,
                const MachineRates& machine) {
  const auto rate = [&](int64_t count) { return static_cast<double>(count) / result.best_seconds; };
  Json json = Json::object();
  if (options.model.empty()) {
    json["preset"] = options.preset;
    json["vocab_size"] = options.vocab_size;
  } else {
    json["model"] = options.model;
  }
  json["sentences"] = work.sources.size();
  if (options.input.empty()) {
    json["source_length"] = options.source_length;
    json["target_length"] = options.target_length;
  } else {
    json["input"] = options.input;
  }
  json["batch_size"] = options.translation.batch_sentences;
  json["beam_size"] = options.translation.beam_size;
  json["length_penalty"] = options.translation.length_penalty;
  json["repeats"] = options.repeats;
  json["seconds"] = result.best_seconds;
  json["target_tokens"] = result.target_tokens;
  json["target_tokens_per_s"] = rate(result.target_tokens);
  if (!options.input.empty()) json["source_words_per_s"] = rate(work.words);
  json["batches"] = result.batch_seconds.size();
  json["batch_latency_p50_s"] = Quantile(result.batch_seconds, 0.5);
  json["batch_latency_p99_s"] = Quantile(result.batch_seconds, 0.99);
  json["load_s"] = result.load_seconds;
  json["peak_rss_mb"] = result.peak_bytes / (1 << 20);
  json["machine"] = {{"f32_per_s", machine.f32},
                     {"int8_per_s", machine.int8},
                     {"memory_bytes_per_s", machine.memory}};
  json["parts"] = PartsJson(result.work);
  return json;
}

void PrintText(const Json& report) {
  const auto number = [&](const char* name) { return report[name].get<double>(); };
  const Json& machine = report["machine"];
  std::cout << fmt::format("target tokens a second  {:>10.1f}\n", number("target_tokens_per_s"));
  if (report.contains("source_words_per_s")) {
    std::cout << fmt::format("source words a second   {:>10.1f}\n", number("source_words_per_s"));
  }
  std::cout << fmt::format(
      "latency of a batch      {:>10.4f} s, 99 of 100 within {:.4f} s ({} measured)\n"
      "load                    {:>10.3f} s\npeak memory             {:>10.1f} MB\n",
      number("batch_latency_p50_s"), number("batch_latency_p99_s"),
      report["batches"].get<int64_t>(), number("load_s"), number("peak_rss_mb"));
  std::cout << fmt::format(
      "the machine's peaks     {:>10.1f} GFLOP/s f32, {:.1f} GOP/s int8, memory {:.1f} GB/s\n"
      "({}, threads: {})\n\n",
      machine["f32_per_s"].get<double>() / 1e9, machine["int8_per_s"].get<double>() / 1e9,
      machine["memory_bytes_per_s"].get<double>() / 1e9,
      report["instruction_set"].get<std::string>(), report["threads"].get<int64_t>());
  std::cout << "time by part\n";
  for (const auto& [name, share] : report["parts"].items()) {
    std::cout << fmt::format("  {:<22}{:>8.1f} %\n", name, 100 * share.get<double>());
  }
}

}  // namespace

int RunBench(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments[0] == "train")
    return RunBenchTrainLauncher({arguments.begin() + 1, arguments.end()});
  CommonOptions common;
  common.threads = 1;
  BenchOptions options;
  CommandLine command_line(
      "bench", "measure speed",
      "attend bench translate --preset base --beam-size 4\n"
      "attend bench translate --model MODEL --input test.en --batch-size 1 --json\n"
      "attend bench train --help");
  command_line
      .Positional("BENCHMARK", &options.what,
                  "what to measure: translate, or train, which has options of its own")
      .Options(Fields(options))
      .Options(Fields(common, {"threads", "seed", "json", "data_dir"}));
  if (!command_line.Parse(arguments)) return 0;
  Check(command_line, options);
  Complete(common, &options);
  const auto seed = static_cast<uint64_t>(common.seed);
  Result result;
  // Random weights are made before the clock starts.
  std::shared_ptr<const Model> model;
  if (options.model.empty()) model = MakeModel(options, seed);
  ForgetPeakResidentBytes();
  const double begin = SteadySeconds();
  if (model == nullptr) model = MakeModel(options, seed);
  const Translator translator(model, options.translator);
  result.load_seconds = SteadySeconds() - begin;
  const Work work = options.input.empty() ? RandomWork(options, model->config, seed)
                                          : ReadText(options.input, translator);
  MeasureRate(options, translator, work.sources, &result);
  MeasureLatency(options, translator, work.sources, &result);
  result.peak_bytes = PeakResidentBytes();
  MeasureParts(options, translator, work.sources, &result);
  const std::string set = translator.instruction_set();
  Json report = ReportJson(options, result, work, MeasureMachine(set, common.ThreadCount()));
  report["type"] = IsInt8(*model) || options.type == BenchType::kInt8 ? "int8" : "f32";
  report["instruction_set"] = set;
  report["threads"] = common.ThreadCount();
  PrintReport(common, report, PrintText);
  return 0;
}

}  // namespace attend
