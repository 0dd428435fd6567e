// `attend bench encode`: the speed of an encoder that makes a vector of each text or picture,
// beside what the machine could do.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <span>
#include <utility>

#include "attend/loaded_model.h"
#include "base/random.h"
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
  FieldList fields = ModelFields(options.model, "bert-base, bert-tiny, vit-base or vit-tiny");
  fields.Add("texts", &options.texts, 1, 1e6, "random texts or pictures")
      .Add("length", &options.length, 1, 1e6,
           "tokens of a random text; a picture has as many rows as the model says")
      .Nest("", RepeatFields(options.model, "texts"));
  return fields;
}

void PrintEncodeReport(const Json& report) {
  std::cout << fmt::format("texts a second          {:>10.1f}\ntokens a second         {:>10.1f}\n",
                           report["texts_per_s"].get<double>(),
                           report["tokens_per_s"].get<double>());
  PrintMeasurement(report);
}

// Texts, or of a model that reads pictures their numbers.
std::vector<EncoderInput> InputsOf(const ModelConfig& config, const EncodeBenchOptions& options,
                                   int64_t seed) {
  std::vector<EncoderInput> inputs;
  if (!config.patches) {
    for (std::vector<int32_t>& ids : RandomTexts(config, options.texts, options.length, seed))
      inputs.push_back({std::move(ids), {}});
    return inputs;
  }
  Random random({static_cast<uint64_t>(seed)});
  while (std::ssize(inputs) < options.texts) {
    std::vector<float>& numbers = inputs.emplace_back().numbers;
    for (int64_t i = 0; i < config.patches->bytes(); ++i)
      numbers.push_back(static_cast<float>(2 * random.Uniform() - 1));
  }
  return inputs;
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
  if (const auto& patches = model->config.patches) options.length = patches->rows();
  const std::vector<EncoderInput> inputs = InputsOf(model->config, options, common.seed);
  // A batch at a time, as a program that gets so many texts at once would call it.
  const auto run = [&](int64_t first, int64_t size) {
    for (int64_t end = first + size; first < end; first += options.model.batch_size) {
      const int64_t batch = std::min(options.model.batch_size, end - first);
      runner.Vectors(std::span(inputs).subspan(first, batch), Pooling::kMean,
                     [](size_t, std::span<const float>) {});
    }
  };
  BenchMeasurement measurement = Measure(options.model, options.texts, run);
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
