#include "model/quantize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "attend/error.h"

namespace attend {
namespace {

// The bytes of a quantised model's tensors.
struct Weights {
  std::vector<Int8Matrix> matrices;
  std::vector<std::vector<float>> floats;
};

// Neighbours' magnitudes come to at most 128 once they are rounded: see quantize.h.
float ScaleOf(const float* row, int64_t width, const std::string& name) {
  float largest_pair = 0;
  for (int64_t k = 0; k < width; ++k) {
    if (!std::isfinite(row[k])) {
      throw Error(ErrorKind::kInput,
                  fmt::format("tensor '{}' holds {}, expected finite numbers", name, row[k]));
    }
    const float before = k % 2 == 1 ? std::abs(row[k - 1]) : 0.0f;
    largest_pair = std::max(largest_pair, before + std::abs(row[k]));
  }
  return largest_pair / 127;
}

void QuantizeRow(const float* row, int64_t width, float scale, int8_t* quantized) {
  for (int64_t k = 0; k < width; ++k) {
    // In f64: a scale too small for a normal float still gives at most 127.
    const double value = scale > 0 ? static_cast<double>(row[k]) / scale : 0;
    quantized[k] = static_cast<int8_t>(std::clamp(std::nearbyint(value), -127.0, 127.0));
  }
}

void AddQuantized(const TensorView& tensor, Weights* weights, TensorTable* tensors) {
  const Int8Matrix& matrix =
      weights->matrices.emplace_back(QuantizeMatrix({tensor.name, tensor.shape}, tensor.f32()));
  const auto bytes = [](const auto& values) {
    return reinterpret_cast<const std::byte*>(values.data());
  };
  tensors->Add({tensor.name, TensorType::kI8, tensor.shape, bytes(matrix.integers)});
  tensors->Add({tensor.name + "_scale", TensorType::kF32, {tensor.shape[0]}, bytes(matrix.scales)});
}

void AddCopy(const TensorView& tensor, Weights* weights, TensorTable* tensors) {
  std::vector<float>& copy =
      weights->floats.emplace_back(tensor.f32(), tensor.f32() + tensor.elements());
  tensors->Add({tensor.name, TensorType::kF32, tensor.shape,
                reinterpret_cast<const std::byte*>(copy.data())});
}

}  // namespace

Int8Matrix QuantizeMatrix(const TensorSpec& spec, const float* values) {
  const int64_t rows = spec.shape[0], width = spec.shape[1];
  if (width > kMostInt8Columns) {
    throw Error(ErrorKind::kInput,
                fmt::format("tensor '{}' has rows of {}, expected at most {} for int8; keep f32",
                            spec.name, width, kMostInt8Columns));
  }
  Int8Matrix matrix{std::vector<int8_t>(rows * width), std::vector<float>(rows)};
  for (int64_t r = 0; r < rows; ++r) {
    const float* row = values + r * width;
    matrix.scales[r] = ScaleOf(row, width, spec.name);
    QuantizeRow(row, width, matrix.scales[r], matrix.integers.data() + r * width);
  }
  return matrix;
}

std::shared_ptr<Model> QuantizeModel(const Model& model) {
  if (IsInt8(model)) throw Error(ErrorKind::kUsage, "the model's weights are int8 already");
  if (model.config.architecture != Architecture::kTransformer) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("the model's architecture is {}; int8 weights are for the engine, which "
                    "runs transformers alone",
                    ArchitectureName(model.config.architecture)));
  }
  auto weights = std::make_shared<Weights>();
  auto quantized = std::make_shared<Model>(model);
  quantized->tensors = TensorTable(weights);
  for (const TensorView& tensor : model.tensors.tensors()) {
    if (MayBeInt8({tensor.name, tensor.shape})) {
      AddQuantized(tensor, weights.get(), &quantized->tensors);
    } else {
      AddCopy(tensor, weights.get(), &quantized->tensors);
    }
  }
  return quantized;
}

std::shared_ptr<const Model> WithWeights(std::shared_ptr<const Model> model, WeightType type) {
  if (type == WeightType::kStored || (type == WeightType::kInt8) == IsInt8(*model)) return model;
  if (type == WeightType::kInt8) return QuantizeModel(*model);
  throw Error(ErrorKind::kUsage,
              "the model's weights are int8 and can't be made f32 again; use the model that it was "
              "quantized from, or leave the type out");
}

bool IsInt8(const Model& model) {
  return std::ranges::any_of(model.tensors.tensors(), [](const TensorView& tensor) {
    return tensor.type == TensorType::kI8;
  });
}

}  // namespace attend
