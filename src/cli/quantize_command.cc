// `attend quantize`: a quarter of the size.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>

#include "base/json.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "tasks/quantize_directory.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

enum class QuantizedType { kInt8 };

uintmax_t WeightBytes(const std::string& directory) {
  return fs::file_size(fs::path(directory) / "model.safetensors");
}

void Quantize(const std::string& from, const std::string& to, const CommonOptions& common) {
  const bool samples = QuantizeDirectory(from, to);
  const uintmax_t before = WeightBytes(from), after = WeightBytes(to);
  const Json report = {{"model", to}, {"type", "int8"}, {"bytes_before", before}, {"bytes", after}};
  PrintReport(common, report, [&](const Json&) {
    if (common.quiet) return;
    const double megabyte = 1 << 20;
    std::cout << fmt::format("wrote {}: int8, {:.1f} MiB of weights instead of {:.1f} ({:.0f} %)\n",
                             to, static_cast<double>(after) / megabyte,
                             static_cast<double>(before) / megabyte,
                             100.0 * static_cast<double>(after) / static_cast<double>(before));
    if (!samples) std::cout << "wrote no samples: the model has no head that `verify` could ask\n";
  });
}

}  // namespace

int RunQuantize(const std::vector<std::string>& arguments) {
  CommonOptions common;
  std::string model, output;
  QuantizedType type = QuantizedType::kInt8;
  FieldList fields;
  fields.Add("type", &type, {"int8"}, "numbers to store weights as")
      .Add("output", &output, "model directory to write");
  CommandLine command_line("quantize", "store a model's weights in int8",
                           "attend quantize model --output model-int8\n"
                           "attend quantize model --type int8 --output model-int8 --json");
  command_line.Positional("MODEL", &model, "model directory")
      .Options(fields)
      .Options(Fields(common, {"quiet", "json"}))
      .Required({"output"});
  if (!command_line.Parse(arguments)) return 0;
  Quantize(model, output, common);
  return 0;
}

}  // namespace attend
