// `attend bench layers`: what the layers of the paper's Table 1 cost, over sequences of growing
// length and width.
#include <fmt/format.h>

#include <ctime>
#include <iostream>
#include <optional>

#include "base/machine_memory.h"
#include "cli/command_line.h"
#include "cli/train_commands.h"
#include "nn/measure/layer_cost.h"
#include "train/device/environment.h"

namespace attend {
namespace {

struct BenchLayersOptions {
  nn::LayerShape shape;
  std::vector<int64_t> lengths = {16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
  std::vector<int64_t> widths = {64, 128, 256, 512, 1024};
  double seconds = 0.05, longest = 30;
  bool graph = false;
};

FieldList Fields(BenchLayersOptions& options) {
  FieldList fields;
  fields
      .Add("kind", &options.shape.kind,
           {"attention", "windowed_attention", "multi_head_attention", "lstm", "convolution",
            "separable_convolution", "dilated_convolution"},
           "the layer; attention alone is of given queries, keys and values")
      .Add("lengths", &options.lengths, 2, 1 << 20, "n: positions of a sequence, rising")
      .Add("widths", &options.widths, 1, 1 << 16, "d: of the layer, rising")
      .Add("head_width", &options.shape.head_width, 1, 1 << 16,
           "of attention's keys and values; wider layers have more heads")
      .Add("window", &options.shape.window, 1, 1 << 20,
           "r: of windowed_attention, positions to each side")
      .Add("kernel_width", &options.shape.kernel_width, 2, 1 << 10, "k: of convolutions")
      .Add("seconds", &options.seconds, 0, 1e6, "that a measurement takes at least")
      .Add("longest", &options.longest, 0, 1e6,
           "leave out what would take more seconds, forward and backward; what would not fit into "
           "memory is left out too")
      .Add("graph", &options.graph,
           "count sequential operations and the length of paths instead of time and memory");
  return fields;
}

// That this process has run, which others on the machine do not lengthen by its waiting.
double ProcessorSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Judges by a shorter sequence, whose length this one has `ratio` times.
std::optional<std::string> ReasonToLeaveOut(const nn::LayerCost& before, double ratio,
                                            const BenchLayersOptions& options) {
  constexpr double kShareOfMemory = 0.5;
  const bool of_all_pairs = options.shape.kind == nn::LayerKind::kAttention ||
                            options.shape.kind == nn::LayerKind::kMultiHeadAttention;
  const double grows = of_all_pairs ? ratio * ratio : ratio;
  if ((before.forward_s + before.backward_s) * grows > options.longest) return "time";
  if (static_cast<double>(before.peak_bytes) * grows >
      kShareOfMemory * static_cast<double>(MachineMemory()))
    return "memory";
  return std::nullopt;
}

void MeasureWidth(const BenchLayersOptions& options, const nn::LayerShape& shape, Json* report) {
  std::optional<nn::LayerCost> before;
  int64_t before_length = 0;
  for (const int64_t length : options.lengths) {
    Json entry = {{"width", shape.width}, {"length", length}};
    if (before) {
      const double ratio = static_cast<double>(length) / static_cast<double>(before_length);
      if (const auto reason = ReasonToLeaveOut(*before, ratio, options)) {
        entry["reason"] = *reason;
        (*report)["left_out"].push_back(entry);
        continue;
      }
    }
    before = nn::MeasureLayer(shape, length, options.seconds, ProcessorSeconds);
    before_length = length;
    entry["forward_s"] = before->forward_s;
    entry["backward_s"] = before->backward_s;
    entry["kept_bytes"] = before->kept_bytes;
    entry["peak_bytes"] = before->peak_bytes;
    entry["runs"] = before->runs;
    (*report)["measured"].push_back(entry);
  }
}

void PrintText(const Json& report) {
  for (const Json& entry : report.value("measured", Json::array())) {
    std::cout << fmt::format(
        "width {:>5}  length {:>5}  forward {:>10.3f} ms  backward {:>10.3f} "
        "ms  memory {:>9.2f} MB\n",
        entry["width"].get<int64_t>(), entry["length"].get<int64_t>(),
        1e3 * entry["forward_s"].get<double>(), 1e3 * entry["backward_s"].get<double>(),
        entry["peak_bytes"].get<double>() / 1e6);
  }
  for (const Json& entry : report.value("left_out", Json::array())) {
    std::cout << fmt::format("width {:>5}  length {:>5}  left out: too much {}\n",
                             entry["width"].get<int64_t>(), entry["length"].get<int64_t>(),
                             entry["reason"].get<std::string>());
  }
  for (const Json& entry : report.value("graph", Json::array())) {
    std::cout << fmt::format(
        "length {:>5}  operations in a row {:>6}  path {:>5}\n", entry["length"].get<int64_t>(),
        entry["sequential_operations"].get<int64_t>(), entry["path_length"].get<int64_t>());
  }
}

}  // namespace

int RunBenchLayers(const std::vector<std::string>& arguments) {
  CommonOptions common;
  BenchLayersOptions options;
  CommandLine command_line(
      "bench layers",
      "measure the layers that the paper's Table 1 compares, on one thread, in processor time",
      "attend bench layers --kind attention --widths 64 128 --lengths 256 512 1024\n"
      "attend bench layers --kind windowed_attention --window 8 --json\n"
      "attend bench layers --kind convolution --graph --lengths 16 32 64");
  command_line.Options(Fields(options)).Options(Fields(common, {"json"}));
  if (!command_line.Parse(arguments)) return 0;
  SetUpTorch(/*threads=*/1);
  nn::LayerShape shape = options.shape;
  Json report = {{"kind", Fields(options).Get("kind", "kind").ValueText()},
                 {"window", shape.window},
                 {"kernel_width", shape.kernel_width},
                 {"head_width", shape.head_width},
                 {"processor", DescribeEnvironment("cpu", /*threads=*/1)["processor"]}};
  if (options.graph) {
    shape.width = shape.head_width = 8;  // neither depends on the width
    for (const int64_t length : options.lengths) {
      report["graph"].push_back({{"length", length},
                                 {"sequential_operations", SequentialOperations(shape, length)},
                                 {"path_length", PathLength(shape, length)}});
    }
  } else {
    report["measured"] = report["left_out"] = Json::array();
    for (const int64_t width : options.widths) {
      shape.width = width;
      MeasureWidth(options, shape, &report);
    }
  }
  PrintReport(common, report, PrintText);
  return 0;
}

}  // namespace attend
