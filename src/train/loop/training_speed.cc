#include "train/loop/training_speed.h"

#include "model/tensor_table.h"

namespace attend {
namespace {

bool IsTable(const std::string& name) {
  return name.ends_with(".embedding.weight") || name.ends_with(".positions.weight") ||
         name == "head.weight";
}

// The encoder's, and what the decoder computes of the encoder's output.
bool MeetsSource(const std::string& name) {
  return name.starts_with("encoder.") || name.find(".cross_attention.key.") != std::string::npos ||
         name.find(".cross_attention.value.") != std::string::npos;
}

}  // namespace

double ProductOperations(const ModelConfig& config, int64_t source_tokens, int64_t target_tokens) {
  const auto source = static_cast<double>(source_tokens),
             target = static_cast<double>(target_tokens);
  double multiply_adds =
      target * static_cast<double>(config.head_width() * config.last_stack().d_model);
  for (const TensorSpec& tensor : ExpectedTensors(config)) {
    if (tensor.shape.size() != 2 || IsTable(tensor.name)) continue;
    multiply_adds += static_cast<double>(tensor.shape[0] * tensor.shape[1]) *
                     (MeetsSource(tensor.name) ? source : target);
  }
  constexpr double kForwardAndBackward = 3;
  return 2 * kForwardAndBackward * multiply_adds;
}

}  // namespace attend
