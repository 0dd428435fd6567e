// `attend bench train`: the speed of training on given text, beside that of the machine's products.
#include <fmt/format.h>

#include <iostream>
#include <utility>

#include "attend/error.h"
#include "cli/bench/machine.h"
#include "cli/command_line.h"
#include "cli/train_commands.h"
#include "model/tensor_table.h"
#include "train/device/environment.h"
#include "train/run.h"
#include "train/train_options.h"

namespace attend {
namespace {

struct BenchTrainOptions {
  std::string recipe, vocab, source, target, preset = "base";
  int64_t batch_tokens = 4096, updates = 30;
  double dropout = 0.1;
  Precision precision = Precision::kF32;
  double peak_flops = 0;
};

FieldList Fields(BenchTrainOptions& options) {
  FieldList fields;
  fields.Add("updates", &options.updates, 1, 1e9, "updates to measure, after some to warm up")
      .Add("recipe", &options.recipe, "what `attend train` trains by this file, of any task")
      .Group("Translation, without a recipe")
      .Add("vocab", &options.vocab, "vocabulary file of both sides")
      .Add("source", &options.source, "source text, one sentence a line")
      .Add("target", &options.target, "its translation")
      .Add("preset", &options.preset, "shape of the model: base, big, tiny or student")
      .Add("batch_tokens", &options.batch_tokens, 1, 1e9,
           "bound on a batch: rows times the longer side, padding included")
      .Add("dropout", &options.dropout, 0, 0.99, "of sub-layer outputs and embedding sums")
      .Add("precision", &options.precision, {"f32", "bf16"}, "of matrix products")
      .Add("peak_flops", &options.peak_flops, 0, 1e20, kPeakFlopsHelp);
  return fields;
}

TrainOptions TrainingOf(const BenchTrainOptions& options, const CommonOptions& common) {
  if (!options.recipe.empty()) return ReadRecipe(options.recipe, common);
  TrainOptions training("translation", options.preset);
  const FieldList fields = Fields(training);
  fields.Get("vocab", "vocab").Parse(common.DataPath(options.vocab), "vocab");
  fields.Get("train_source", "source").Parse(common.DataPath(options.source), "source");
  fields.Get("train_target", "target").Parse(common.DataPath(options.target), "target");
  training.optimization.batch_tokens = options.batch_tokens;
  training.optimization.dropout = options.dropout;
  training.optimization.clip_norm = 1;
  training.optimization.precision = options.precision;
  training.peak_flops = options.peak_flops;
  training.seed = common.seed;
  return training;
}

Json ReportJson(const TrainOptions& options, const TrainingRate& rate) {
  const TrainingSpeed& speed = rate.speed;
  const double flops = speed.operations / speed.seconds;
  const OptimizationOptions& optimization = options.optimization;
  const std::string precision = optimization.precision == Precision::kBf16 ? "bf16" : "f32";
  Json json = Json::object();
  json["preset"] = options.preset;
  json["vocab_size"] = rate.model.target_vocab_size;
  json["parameters"] = ParameterCount(rate.model);
  json["batch_tokens"] = optimization.batch_tokens;
  json["dropout"] = optimization.dropout;
  json["updates"] = speed.updates;
  json["seconds"] = speed.seconds;
  json["input_tokens"] = speed.input_tokens;
  json["target_tokens"] = speed.target_tokens;
  json["target_tokens_per_s"] = speed.target_tokens_per_s();
  json["ms_per_update"] = 1e3 * speed.seconds / static_cast<double>(speed.updates);
  json["share_of_waiting_for_data"] = speed.data_seconds / speed.seconds;
  json["precision"] = precision;
  json["flops"] = flops;
  json["share_of_products"] = flops / rate.product_rate;
  if (rate.peak_flops > 0) json["utilisation"] = flops / rate.peak_flops;
  json["peak_rss_mb"] = PeakResidentBytes() / (1 << 20);
  json["machine"] = {{precision + "_products_per_s", rate.product_rate}};
  return json;
}

void PrintText(const Json& report) {
  const std::string precision = report["precision"];
  std::cout << fmt::format(
      "target tokens a second  {:>10.1f}\nan update               {:>10.1f} ms\n"
      "training's products     {:>10.1f} GFLOP/s\nof the products' rate   {:>10.1f} %\n"
      "waiting for data        {:>10.1f} %\npeak memory             {:>10.1f} MB\n"
      "the machine's products  {:>10.1f} GFLOP/s {} ({}, threads: {})\n",
      report["target_tokens_per_s"].get<double>(), report["ms_per_update"].get<double>(),
      report["flops"].get<double>() / 1e9, 100 * report["share_of_products"].get<double>(),
      100 * report["share_of_waiting_for_data"].get<double>(), report["peak_rss_mb"].get<double>(),
      report["machine"][precision + "_products_per_s"].get<double>() / 1e9, precision,
      report["machine"]["processor"].get<std::string>(), report["threads"].get<int64_t>());
  if (report.contains("utilisation"))
    std::cout << fmt::format("of the peak             {:>10.1f} %\n",
                             100 * report["utilisation"].get<double>());
}

// What a recipe says, options do not say again; without one they name the text.
void CheckRecipeOrText(const CommandLine& command_line, const BenchTrainOptions& options) {
  if (options.recipe.empty()) {
    const std::pair<const char*, const std::string*> texts[] = {
        {"vocab", &options.vocab}, {"source", &options.source}, {"target", &options.target}};
    for (const auto& [option, value] : texts) {
      if (!value->empty()) continue;
      throw Error(ErrorKind::kUsage,
                  fmt::format("attend bench train: --{} is missing; give vocab, source and target, "
                              "or a recipe",
                              option));
    }
    return;
  }
  for (const char* name : {"vocab", "source", "target", "preset", "batch_tokens", "dropout",
                           "precision", "peak_flops", "seed"}) {
    if (!command_line.IsSet(name)) continue;
    throw Error(
        ErrorKind::kUsage,
        fmt::format("attend bench train: recipe and {} are both given; leave out one", name));
  }
}

}  // namespace

int RunBenchTrain(const std::vector<std::string>& arguments) {
  CommonOptions common;
  common.threads = 1;
  BenchTrainOptions options;
  CommandLine command_line(
      "bench train", "measure the speed of training; what is trained is thrown away",
      "attend bench train --vocab vocab.spm --source train.en --target train.de --preset tiny\n"
      "attend bench train --vocab vocab.spm --source train.en --target train.de --threads 2 "
      "--json\n"
      "attend bench train --recipe recipes/language_model/tinyshakespeare.toml --data-dir data");
  command_line.Options(Fields(options))
      .Options(Fields(common, {"threads", "seed", "device", "json", "data_dir"}));
  if (!command_line.Parse(arguments)) return 0;
  CheckRecipeOrText(command_line, options);
  RunSettings settings;
  settings.threads = common.ThreadCount();
  settings.device = common.device;
  settings.effects.now = SteadySeconds;
  TrainOptions training = TrainingOf(options, common);
  training.dry_run = true;
  Json report = ReportJson(training, MeasureTraining(training, settings, options.updates));
  const Json environment = DescribeEnvironment(common.device, settings.threads);
  for (const char* name : {"processor", "instruction_set", "gpu"}) {
    if (environment.contains(name)) report["machine"][name] = environment[name];
  }
  report["threads"] = settings.threads;
  report["device"] = common.device;
  PrintReport(common, report, PrintText);
  return 0;
}

}  // namespace attend
