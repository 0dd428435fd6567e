#include "cli/bench/model_benchmark.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <limits>

#include "attend/error.h"
#include "cli/bench/machine.h"
#include "cli/bench/quantile.h"
#include "cli/described_model.h"
#include "model/adapted_model.h"
#include "model/quantize.h"
#include "model/random_tensors.h"
#include "tasks/loaded_model.h"

namespace attend {

WeightType ModelBenchOptions::weight_type() const {
  if (type == Type::kStored) return WeightType::kStored;
  return type == Type::kInt8 ? WeightType::kInt8 : WeightType::kF32;
}

FieldList ModelFields(ModelBenchOptions& options, const std::string& presets) {
  FieldList fields;
  fields.Add("model", &options.model, "the model directory; none: random weights of `preset`")
      .Nest("", AdapterField(&options.adapter))
      .Add("preset", &options.preset, "shape of random weights: " + presets)
      .Add("vocab_size", &options.vocab_size, 8, 1 << 24, "vocabulary of random weights")
      .Add("type", &options.type, {"stored", "f32", "float32", "int8"},
           "numbers that weights run as; float32 is f32");
  return fields;
}

FieldList RepeatFields(ModelBenchOptions& options, const std::string& items) {
  FieldList fields;
  fields
      .Add("batch_size", &options.batch_size, 1, 100000,
           fmt::format("maximum number of {} that run together on a thread", items))
      .Add("repeats", &options.repeats, 1, 1000,
           "times that all is run, of which the best counts, and then batch by batch");
  return fields;
}

void RefuseUnused(const CommandLine& command_line, const std::vector<UnusedOption>& options) {
  for (const auto& [option, unused, why] : options) {
    if (!unused || !command_line.IsSet(option)) continue;
    throw Error(ErrorKind::kUsage, fmt::format("attend bench: {} {}", OptionName(option), why));
  }
}

std::vector<UnusedOption> UnusedModelOptions(const ModelBenchOptions& options) {
  const bool given = !options.model.empty();
  const std::string why = "is for random weights; leave out it or --model";
  return {{"preset", given, why},
          {"vocab_size", given, why},
          {"adapter", !given, "is for a model that --model names"}};
}

std::vector<int32_t> RandomIds(const ModelConfig& config, int64_t length, Random* random) {
  const int64_t vocabulary = config.encoder ? config.source_vocab_size : config.target_vocab_size;
  const SpecialIds& ids = config.special_ids;
  const int64_t first = 1 + std::max({ids.pad, ids.unk, ids.bos, ids.eos});
  const int64_t count = std::max<int64_t>(vocabulary - first, 1);
  std::vector<int32_t> text(length);
  for (int32_t& id : text) {
    id = static_cast<int32_t>(std::min(first, vocabulary - 1) +
                              static_cast<int64_t>(random->Below(count)));
  }
  return text;
}

std::vector<std::vector<int32_t>> RandomTexts(const ModelConfig& config, int64_t count,
                                              int64_t length, int64_t seed) {
  Random random({static_cast<uint64_t>(seed), 1});
  std::vector<std::vector<int32_t>> texts;
  while (std::ssize(texts) < count) texts.push_back(RandomIds(config, length, &random));
  return texts;
}

LoadTimer::LoadTimer(const ModelBenchOptions& options, int64_t seed) : options_(options) {
  if (options.model.empty()) {
    auto model = std::make_shared<Model>();
    model->config = PresetModel(options.preset, options.vocab_size);
    model->tensors = RandomTensors(model->config, static_cast<uint64_t>(seed), 0.02);
    model_ = WithWeights(model, options.weight_type());
  }
  ForgetPeakResidentBytes();
  begin_ = SteadySeconds();
}

std::shared_ptr<const Model> LoadTimer::Read() {
  if (model_ == nullptr) model_ = LoadModelWith(options_.model, options_.adapter);
  return model_;
}

double LoadTimer::Seconds() const { return SteadySeconds() - begin_; }

double BestSeconds(int64_t repeats, int64_t count, const RunItems& run) {
  double best = std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < repeats; ++i) {
    const double begin = SteadySeconds();
    run(0, count);
    best = std::min(best, SteadySeconds() - begin);
  }
  return best;
}

BenchMeasurement Measure(const ModelBenchOptions& options, int64_t count, const RunItems& run) {
  constexpr int64_t kEnough = 100;  // batches for a quantile
  BenchMeasurement measurement;
  measurement.best_seconds = BestSeconds(options.repeats, count, run);
  std::vector<double>& seconds = measurement.batch_seconds;
  for (int64_t i = 0; i < options.repeats && std::ssize(seconds) < kEnough; ++i) {
    for (int64_t first = 0; first < count; first += options.batch_size) {
      const double begin = SteadySeconds();
      run(first, std::min(options.batch_size, count - first));
      seconds.push_back(SteadySeconds() - begin);
    }
  }
  std::sort(seconds.begin(), seconds.end());
  measurement.peak_bytes = PeakResidentBytes();
  return measurement;
}

void AddToReport(const ModelBenchOptions& options, const BenchMeasurement& measurement,
                 Json* report) {
  Json& json = *report;
  if (options.model.empty()) {
    json["preset"] = options.preset;
    json["vocab_size"] = options.vocab_size;
  } else {
    json["model"] = options.model;
    if (!options.adapter.empty()) json["adapter"] = options.adapter;
  }
  json["batch_size"] = options.batch_size;
  json["repeats"] = options.repeats;
  json["seconds"] = measurement.best_seconds;
  json["batches"] = measurement.batch_seconds.size();
  json["batch_latency_p50_s"] = Quantile(measurement.batch_seconds, 0.5);
  json["batch_latency_p99_s"] = Quantile(measurement.batch_seconds, 0.99);
  json["load_s"] = measurement.load_seconds;
  json["peak_rss_mb"] = measurement.peak_bytes / (1 << 20);
}

void AddMachine(const Model& model, const ModelBenchOptions& options, const std::string& set,
                int threads, Json* report) {
  const MachineRates machine = MeasureMachine(set, threads);
  const bool int8 = IsInt8(model) || options.type == ModelBenchOptions::Type::kInt8;
  (*report)["machine"] = {{"f32_per_s", machine.f32},
                          {"int8_per_s", machine.int8},
                          {"memory_bytes_per_s", machine.memory}};
  (*report)["type"] = int8 ? "int8" : "f32";
  (*report)["instruction_set"] = set;
  (*report)["threads"] = threads;
}

void PrintMeasurement(const Json& report) {
  const auto number = [&](const char* name) { return report[name].get<double>(); };
  const Json& machine = report["machine"];
  std::cout << fmt::format(
      "latency of a batch      {:>10.4f} s, 99 of 100 within {:.4f} s ({} measured)\n"
      "load                    {:>10.3f} s\npeak memory             {:>10.1f} MB\n",
      number("batch_latency_p50_s"), number("batch_latency_p99_s"),
      report["batches"].get<int64_t>(), number("load_s"), number("peak_rss_mb"));
  std::cout << fmt::format(
      "the machine's peaks     {:>10.1f} GFLOP/s f32, {:.1f} GOP/s int8, memory {:.1f} GB/s\n"
      "({}, threads: {})\n",
      machine["f32_per_s"].get<double>() / 1e9, machine["int8_per_s"].get<double>() / 1e9,
      machine["memory_bytes_per_s"].get<double>() / 1e9,
      report["instruction_set"].get<std::string>(), report["threads"].get<int64_t>());
}

}  // namespace attend
