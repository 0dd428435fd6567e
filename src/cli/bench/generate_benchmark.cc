// `attend bench generate`: the speed of a language model that writes on from prompts, the prompt
// and the steps apart, beside what the machine could do.
#include <fmt/format.h>

#include <iostream>

#include "attend/error.h"
#include "attend/generator.h"
#include "attend/loaded_model.h"
#include "cli/bench/benchmarks.h"
#include "cli/bench/model_benchmark.h"
#include "tasks/language_model/generation_options.h"

namespace attend {
namespace {

struct GenerateBenchOptions {
  ModelBenchOptions model{.preset = "gpt2-small", .vocab_size = 50257};
  int64_t prompts = 32, prompt_length = 512, output_length = 128;
  // The bound on what runs together is on prompts alone; the likeliest token always.
  GenerationOptions generation = {.temperature = 0, .batch_tokens = int64_t{1} << 40};
};

FieldList GenerateFields(GenerateBenchOptions& options) {
  FieldList fields = ModelFields(options.model, "gpt2-small or gpt-char");
  fields.Add("prompts", &options.prompts, 1, 1e6, "random prompts")
      .Add("prompt_length", &options.prompt_length, 0, 1e6, "tokens of a random prompt")
      .Add("output_length", &options.output_length, 2, 1e6, "tokens of each output")
      .Nest("", RepeatFields(options.model, "prompts"))
      .Nest("", Fields(options.generation).Select({"beam_size"}));
  return fields;
}

// What learned positions leave room for: less by default, no less than was asked for.
void ShortenPrompts(const StackConfig& decoder, bool given, GenerateBenchOptions* options) {
  const int64_t most = MaxTokens(decoder) - options->output_length;
  if (options->prompt_length <= most) return;
  if (given || most < 1) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("attend bench: --prompt-length {} and --output-length {} need more than "
                    "the {} positions of the model; make them shorter",
                    options->prompt_length, options->output_length, MaxTokens(decoder)));
  }
  options->prompt_length = most;
}

void PrintGenerateReport(const Json& report) {
  for (const auto& [name, key] : {std::pair{"output tokens a second", "output_tokens_per_s"},
                                  {"prompt tokens a second", "prompt_tokens_per_s"},
                                  {"tokens a second after", "step_tokens_per_s"}})
    std::cout << fmt::format("{:<24}{:>10.1f}\n", name, report[key].get<double>());
  PrintMeasurement(report);
}

}  // namespace

int RunBenchGenerate(const std::vector<std::string>& arguments) {
  CommonOptions common;
  common.threads = 1;
  GenerateBenchOptions options;
  CommandLine command_line("bench generate", "measure the speed of a language model",
                           "attend bench generate --preset gpt2-small --type int8 --batch-size 1\n"
                           "attend bench generate --model MODEL --prompts 32 --threads 2 --json");
  command_line.Options(GenerateFields(options))
      .Options(Fields(common, {"threads", "seed", "json"}));
  if (!command_line.Parse(arguments)) return 0;
  RefuseUnused(command_line, UnusedModelOptions(options.model));
  LoadTimer timer(options.model, common.seed);
  const auto model = timer.Read();
  const Generator generator(Load(model, {.type = options.model.weight_type()}),
                            common.ThreadCount());
  const double load_seconds = timer.Seconds();
  ShortenPrompts(*model->config.decoder, command_line.IsSet("prompt_length"), &options);
  const auto prompts =
      RandomTexts(model->config, options.prompts, options.prompt_length, common.seed);
  options.generation.batch_sentences = options.model.batch_size;
  const auto run = [&](int64_t first, int64_t size) {
    generator.GenerateIds(std::span(prompts).subspan(first, size), options.generation);
  };
  options.generation.min_tokens = options.generation.max_tokens = 1;
  const double prompt_seconds = BestSeconds(options.model.repeats, options.prompts, run);
  options.generation.min_tokens = options.generation.max_tokens = options.output_length;
  BenchMeasurement measurement = Measure(options.model, options.prompts, run);
  measurement.load_seconds = load_seconds;
  Json report = Json::object();
  AddToReport(options.model, measurement, &report);
  const auto count = static_cast<double>(options.prompts);
  report["prompts"] = options.prompts;
  report["prompt_length"] = options.prompt_length;
  report["output_length"] = options.output_length;
  report["beam_size"] = options.generation.beam_size;
  report["output_tokens_per_s"] = count * options.output_length / measurement.best_seconds;
  report["prompt_tokens_per_s"] = count * options.prompt_length / prompt_seconds;
  report["step_tokens_per_s"] =
      count * (options.output_length - 1) / (measurement.best_seconds - prompt_seconds);
  AddMachine(*model, options.model, generator.instruction_set(), common.ThreadCount(), &report);
  PrintReport(common, report, PrintGenerateReport);
  return 0;
}

}  // namespace attend
