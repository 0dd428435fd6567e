// What the benchmarks of running models share: where the model comes from, what is timed, and how
// that is reported.
#ifndef ATTEND_CLI_BENCH_MODEL_BENCHMARK_H_
#define ATTEND_CLI_BENCH_MODEL_BENCHMARK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attend/model_config.h"
#include "attend/running.h"
#include "base/fields.h"
#include "base/json.h"
#include "base/random.h"
#include "cli/command_line.h"
#include "model/model_directory.h"

namespace attend {

struct ModelBenchOptions {
  enum class Type { kStored, kF32, kFloat32, kInt8 };

  std::string model, adapter, preset;  // without a model, random weights of the preset
  Type type = Type::kStored;
  int64_t vocab_size = 32000, batch_size = 32, repeats = 3;

  WeightType weight_type() const;
};

// `presets` names those that make sense. `items`: what is run, "sentences".
FieldList ModelFields(ModelBenchOptions& options, const std::string& presets);
FieldList RepeatFields(ModelBenchOptions& options, const std::string& items);

// An option that would change nothing, and why.
struct UnusedOption {
  const char* option;
  bool unused;
  std::string why;
};
// Throws Error(kUsage) where the command line gives one.
void RefuseUnused(const CommandLine& command_line, const std::vector<UnusedOption>& options);
std::vector<UnusedOption> UnusedModelOptions(const ModelBenchOptions& options);

// Ids of no special token.
std::vector<int32_t> RandomIds(const ModelConfig& config, int64_t length, Random* random);
// `count` texts of them.
std::vector<std::vector<int32_t>> RandomTexts(const ModelConfig& config, int64_t count,
                                              int64_t length, int64_t seed);

// Times how long a model takes to load. Random weights are made before the clock starts.
class LoadTimer {
 public:
  LoadTimer(const ModelBenchOptions& options, int64_t seed);

  // Reads it where it is not random.
  std::shared_ptr<const Model> Read();
  double Seconds() const;

 private:
  const ModelBenchOptions& options_;
  std::shared_ptr<const attend::Model> model_;
  double begin_;
};

struct BenchMeasurement {
  double load_seconds = 0;
  double best_seconds = 0;            // for all items
  std::vector<double> batch_seconds;  // of each batch alone, rising
  double peak_bytes = 0;
};

// Runs items [first, first + size).
using RunItems = std::function<void(int64_t first, int64_t size)>;
// The fastest of `repeats` runs of all items.
double BestSeconds(int64_t repeats, int64_t count, const RunItems& run);
// All items at once, and batch after batch, as the options say.
BenchMeasurement Measure(const ModelBenchOptions& options, int64_t count, const RunItems& run);

// What stands in each report; `set`: the instruction set that ran.
void AddToReport(const ModelBenchOptions& options, const BenchMeasurement& measurement,
                 Json* report);
void AddMachine(const Model& model, const ModelBenchOptions& options, const std::string& set,
                int threads, Json* report);
// The same for people.
void PrintMeasurement(const Json& report);

}  // namespace attend

#endif  // ATTEND_CLI_BENCH_MODEL_BENCHMARK_H_
