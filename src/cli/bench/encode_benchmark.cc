// `attend bench encode`: the speed of an encoder that makes a vector of each text, beside what the
// machine could do.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <span>
#include <utility>

#include "attend/loaded_model.h"
#include "cli/bench/benchmarks.h"
#include "cli/bench/model_benchmark.h"
#include "tasks/encoder_runner.h"

namespace attend {
namespace {

struct EncodeBenchOptions {
  ModelBenchOptions model{.preset = "bert-base", .vocab_size = 30522};
  int64_t texts = 64, length = 128;
};

FieldList EncodeFields(EncodeBenchOptions& options) {
  FieldList fields = ModelFields(options.model, "bert-base or bert-tiny");
  fields.Add("texts", &options.texts, 1, 1e6, "random texts")
      .Add("length", &options.length, 1, 1e6, "tokens of a random text")
      .Nest("", RepeatFields(options.model, "texts"));
  return fields;
}

void PrintEncodeReport(const Json& report) {
  std::cout << fmt::format("texts a second          {:>10.1f}\ntokens a second         {:>10.1f}\n",
                           report["texts_per_s"].get<double>(),
                           report["tokens_per_s"].get<double>());
  PrintMeasurement(report);
}

}  // namespace

int RunBenchEncode(const std::vector<std::string>& arguments) {
  CommonOptions common;
  common.threads = 1;
  EncodeBenchOptions options;
  CommandLine command_line("bench encode", "measure the speed of an encoder",
                           "attend bench encode --preset bert-base --type int8 --batch-size 1\n"
                           "attend bench encode --model MODEL --length 32 --threads 2 --json");
  command_line.Options(EncodeFields(options)).Options(Fields(common, {"threads", "seed", "json"}));
  if (!command_line.Parse(arguments)) return 0;
  RefuseUnused(command_line, UnusedModelOptions(options.model));
  LoadTimer timer(options.model, common.seed);
  const auto model = timer.Read();
  const auto loaded = Load(model, {.type = options.model.weight_type()});
  const EncoderRunner runner(loaded, common.ThreadCount());
  const double load_seconds = timer.Seconds();
  std::vector<EncoderInput> inputs;
  for (std::vector<int32_t>& ids :
       RandomTexts(model->config, options.texts, options.length, common.seed))
    inputs.push_back({std::move(ids), {}});
  // A batch at a time, as a program that gets so many texts at once would call it.
  const auto run = [&](int64_t first, int64_t size) {
    for (int64_t end = first + size; first < end; first += options.model.batch_size) {
      const int64_t batch = std::min(options.model.batch_size, end - first);
      runner.Vectors(std::span(inputs).subspan(first, batch), Pooling::kMean,
                     [](size_t, std::span<const float>) {});
    }
  };
  Measurement measurement = Measure(options.model, options.texts, run);
  measurement.load_seconds = load_seconds;
  Json report = Json::object();
  AddToReport(options.model, measurement, &report);
  report["texts"] = options.texts;
  report["length"] = options.length;
  report["texts_per_s"] = static_cast<double>(options.texts) / measurement.best_seconds;
  report["tokens_per_s"] =
      static_cast<double>(options.texts * options.length) / measurement.best_seconds;
  AddMachine(*model, options.model, loaded->weights.kernels.name, common.ThreadCount(), &report);
  PrintReport(common, report, PrintEncodeReport);
  return 0;
}

}  // namespace attend
