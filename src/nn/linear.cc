#include "nn/linear.h"

#include <optional>

#include "nn/bf16_products.h"
#include "nn/fused/fused_function.h"
#include "nn/fused/packed_factor.h"

namespace attend::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

torch::Tensor Product(const torch::Tensor& a, const torch::Tensor& b, torch::ScalarType type,
                      const torch::Tensor& bias = {}) {
  const torch::Tensor result = torch::empty({a.size(0), b.size(1)}, a.options());
  PackedFactor(b, type).Multiply(a, result, bias);
  return result;
}

// x W^T + b of rows.
struct LinearFunction : torch::autograd::Function<LinearFunction> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x_RD,
                               const torch::Tensor& weight_ED,
                               const std::optional<torch::Tensor>& bias_E, torch::ScalarType type) {
    context->save_for_backward({x_RD, weight_ED});
    context->saved_data["type"] = static_cast<int64_t>(type);
    context->saved_data["with_bias"] = bias_E.has_value();
    return Product(x_RD, weight_ED.t(), type, bias_E.value_or(torch::Tensor()));
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const tensor_list saved = context->get_saved_variables();
    const auto& [x_RD, weight_ED] = std::tie(saved[0], saved[1]);
    const auto type = static_cast<torch::ScalarType>(context->saved_data["type"].toInt());
    const torch::Tensor& gradient_RE = gradients[0];
    const auto product = [&](const torch::Tensor& a, const torch::Tensor& b) {
      if (!torch::GradMode::is_enabled()) return Product(a, b, type);
      return torch::mm(a.to(type), b.to(type)).to(a.scalar_type());  // has gradients itself
    };
    tensor_list result(4);
    if (context->needs_input_grad(0)) result[0] = product(gradient_RE, weight_ED);
    if (context->needs_input_grad(1)) result[1] = product(gradient_RE.t(), x_RD);
    if (context->saved_data["with_bias"].toBool() && context->needs_input_grad(2))
      result[2] = gradient_RE.sum(0);
    return result;
  }
};

}  // namespace

torch::Tensor Linear(const torch::Tensor& x, const torch::Tensor& weight,
                     const torch::Tensor& bias) {
  const torch::ScalarType type = ProductType(x);
  const bool rounds = type == torch::kBFloat16;
  const bool by_kernels = torch::GradMode::is_enabled() && HasProductKernels(x, type);
  if (!HasKernels(x) || x.dim() == 0 || !(rounds || by_kernels))
    return torch::linear(x, weight, bias);
  const std::optional<torch::Tensor> given = IfDefined(bias);
  if (x.dim() == 2) return LinearFunction::apply(x, weight, given, type);
  std::vector<int64_t> shape = x.sizes().vec();
  shape.back() = weight.size(0);
  const torch::Tensor x_RD = x.dim() == 1 ? x.unsqueeze(0) : x.flatten(0, -2);
  return LinearFunction::apply(x_RD, weight, given, type).view(shape);
}

}  // namespace attend::nn
