// `attend bench encode`: the speed of an encoder that makes a vector of each text, picture or item
// with several inputs, beside what the machine could do.
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
  FieldList fields =
      ModelFields(options.model, "bert-base, bert-tiny, vit-base, vit-tiny or fusion-tiny");
  fields
      .Add("texts", &options.texts, 1, 1e6,
           "random texts, pictures or items with a text, a picture and links")
      .Add("length", &options.length, 1, 1e6,
           "tokens of a random text; a picture has as many patches as the model says")
      .Nest("", RepeatFields(options.model, "texts"));
  return fields;
}

// What the model reads.
const char* NounOf(const ModelConfig& config) {
  if (config.fusion) return "items";
  return config.patches ? "pictures" : "texts";
}

void PrintEncodeReport(const Json& report) {
  for (const char* noun : {"texts", "pictures", "items", "tokens"}) {
    if (const auto rate = report.find(fmt::format("{}_per_s", noun)); rate != report.end())
      std::cout << fmt::format("{:<24}{:>10.1f}\n", fmt::format("{} a second", noun),
                               rate->get<double>());
  }
  PrintMeasurement(report);
}

std::vector<EncoderInput> InputsOf(const ModelConfig& config, const EncodeBenchOptions& options,
                                   int64_t seed) {
  std::vector<EncoderInput> inputs(options.texts);
  if (!config.patches) {
    auto texts = RandomTexts(config, options.texts, options.length, seed);
    for (size_t i = 0; i < texts.size(); ++i) inputs[i].ids = std::move(texts[i]);
  }
  if (!config.patches && !config.fusion) return inputs;
  const PatchInput& patches = config.fusion ? config.fusion->patches : *config.patches;
  Random random({static_cast<uint64_t>(seed)});
  for (EncoderInput& input : inputs) {
    for (int64_t i = 0; i < patches.bytes(); ++i)
      input.numbers.push_back(static_cast<float>(2 * random.Uniform() - 1));
    for (int32_t link = 0; config.fusion && link < 3 && link < std::ssize(config.fusion->nodes);
         ++link)
      input.nodes.push_back(link);
  }
  return inputs;
}

// Rows that the encoder reads of each.
int64_t RowsOf(const ModelConfig& config, const EncoderInput& input, int64_t length) {
  if (config.patches) return config.patches->rows();
  if (!config.fusion) return length;
  return 1 + length + config.fusion->patches.patches() + std::ssize(input.nodes);
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
  const std::vector<EncoderInput> inputs = InputsOf(model->config, options, common.seed);
  const Pooling pooling = model->config.fusion ? Pooling::kFirst : Pooling::kMean;
  // A batch at a time, as a program that gets so many texts at once would call it.
  const auto run = [&](int64_t first, int64_t size) {
    for (int64_t end = first + size; first < end; first += options.model.batch_size) {
      const int64_t batch = std::min(options.model.batch_size, end - first);
      runner.Vectors(std::span(inputs).subspan(first, batch), pooling,
                     [](size_t, std::span<const float>) {});
    }
  };
  BenchMeasurement measurement = Measure(options.model, options.texts, run);
  measurement.load_seconds = load_seconds;
  Json report = Json::object();
  AddToReport(options.model, measurement, &report);
  const char* noun = NounOf(model->config);
  const auto rate = static_cast<double>(options.texts) / measurement.best_seconds;
  const int64_t rows = RowsOf(model->config, inputs[0], options.length);
  report[noun] = options.texts;
  report["length"] = rows;
  report[fmt::format("{}_per_s", noun)] = rate;
  if (!model->config.patches && !model->config.fusion)
    report["tokens_per_s"] = rate * static_cast<double>(rows);
  AddMachine(*model, options.model, loaded->weights.kernels.name, common.ThreadCount(), &report);
  PrintReport(common, report, PrintEncodeReport);
  return 0;
}

}  // namespace attend
