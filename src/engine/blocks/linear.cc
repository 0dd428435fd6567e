#include "engine/blocks/linear.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/error.h"

namespace attend {
namespace {

const TensorView& Floats(const TensorTable& tensors, const std::string& name) {
  const TensorView& tensor = tensors.Get(name);
  if (tensor.type != TensorType::kF32) {
    throw Error(ErrorKind::kInput, fmt::format("tensor '{}' has type {}, expected F32", name,
                                               TensorTypeName(tensor.type)));
  }
  return tensor;
}

}  // namespace

Linear::Linear(const KernelTable& kernels, const TensorTable& tensors,
               const std::vector<std::string>& weights, const std::string& bias_name)
    : kernels_(&kernels) {
  std::vector<float> joined;
  for (const std::string& name : weights) {
    const TensorView& weight = Floats(tensors, name);
    inner_ = weight.shape.at(1);
    columns_ += weight.shape[0];
    if (weights.size() > 1) {
      joined.insert(joined.end(), weight.f32(), weight.f32() + weight.elements());
    }
    const std::string own = name.substr(0, name.rfind('.')) + ".bias";
    const std::string& wanted = bias_name.empty() ? own : bias_name;
    if (tensors.Find(wanted) == nullptr) continue;
    const TensorView& bias = Floats(tensors, wanted);
    bias_.insert(bias_.end(), bias.f32(), bias.f32() + bias.elements());
  }
  const float* w = weights.size() > 1 ? joined.data() : Floats(tensors, weights[0]).f32();
  packed_.resize(kernels.packed_size_f32(columns_, inner_));
  kernels.pack_f32(w, columns_, inner_, packed_.data());
}

void Linear::Apply(const float* x, int64_t rows, float* y, MatmulActivation activation,
                   const float* residual) const {
  kernels_->matmul_f32({x, inner_, rows, packed_.data(), inner_, 0, columns_,
                        bias_.empty() ? nullptr : bias_.data(), residual, y, columns_, activation});
}

void Linear::ApplyColumns(const float* x, int64_t rows, int64_t first, int64_t last,
                          float* y) const {
  kernels_->matmul_f32({x, inner_, rows, packed_.data(), inner_, first, last,
                        bias_.empty() ? nullptr : bias_.data(), nullptr, y, last - first,
                        MatmulActivation::kNone});
}

}  // namespace attend
