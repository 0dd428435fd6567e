#include "nn/linear.h"

#include <optional>

#include "nn/bf16_products.h"
#include "nn/fused/fused_function.h"
#include "nn/fused/packed_factor.h"
#include "nn/int8_rounding.h"

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

// The rows of a weight to which an adapter adds, and how strongly.
struct AdaptedRows {
  int64_t first, count;
  double scale;
};

// x (W + scale B A)^T + b of rows, where A and B alone have gradients. `factors`: A, B of each of
// `adapted`, all of one rank. Takes `weight_ED`, which nobody else may have, for the sum.
struct AdaptedLinearFunction : torch::autograd::Function<AdaptedLinearFunction> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x_RD,
                               const torch::Tensor& weight_ED,
                               const std::optional<torch::Tensor>& bias_E, at::TensorList factors,
                               const std::vector<AdaptedRows>& adapted, torch::ScalarType type) {
    tensor_list saved{x_RD, weight_ED};
    for (size_t i = 0; i < adapted.size(); ++i) {
      const torch::Tensor &a_KD = factors[2 * i], &b_EK = factors[2 * i + 1];
      PackedFactor(a_KD, weight_ED.scalar_type())
          .MultiplyAdd(b_EK * adapted[i].scale,
                       weight_ED.narrow(0, adapted[i].first, adapted[i].count));
      saved.insert(saved.end(), {a_KD, b_EK});
    }
    context->save_for_backward(saved);
    context->saved_data["type"] = static_cast<int64_t>(type);
    std::vector<int64_t> firsts;
    std::vector<double> scales;
    for (const AdaptedRows& each : adapted) {
      firsts.push_back(each.first);
      scales.push_back(each.scale);
    }
    context->saved_data["firsts"] = firsts;
    context->saved_data["scales"] = scales;
    return Product(x_RD, weight_ED.t(), type, bias_E.value_or(torch::Tensor()));
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    CheckNoGraphWanted();
    const tensor_list saved = context->get_saved_variables();
    const auto type = static_cast<torch::ScalarType>(context->saved_data["type"].toInt());
    const std::vector<int64_t> firsts = context->saved_data["firsts"].toIntVector();
    const std::vector<double> scales = context->saved_data["scales"].toDoubleVector();
    const torch::Tensor &x_RD = saved[0], &gradient_RE = gradients[0];
    tensor_list of_rows, a_all;  // dy B of each part; A of each part
    for (size_t i = 0; i < firsts.size(); ++i) {
      const torch::Tensor &a_KD = saved[2 + 2 * i], &b_EK = saved[3 + 2 * i];
      of_rows.push_back(Product(gradient_RE.narrow(1, firsts[i], b_EK.size(0)), b_EK, type) *
                        scales[i]);
      a_all.push_back(a_KD);
    }
    const torch::Tensor a_gradient = Product(torch::cat(of_rows, 1).t(), x_RD, type),
                        input_RK = Product(x_RD, torch::cat(a_all).t(), type);
    tensor_list result(3 + 2 * firsts.size() + 2);
    if (context->needs_input_grad(0)) result[0] = Product(gradient_RE, saved[1], type);
    const int64_t rank = a_all[0].size(0);
    for (size_t i = 0; i < firsts.size(); ++i) {
      const int64_t first = static_cast<int64_t>(i) * rank, count = saved[3 + 2 * i].size(0);
      result[3 + 2 * i] = a_gradient.narrow(0, first, rank);
      result[4 + 2 * i] = Product(gradient_RE.narrow(1, firsts[i], count).t(),
                                  input_RK.narrow(1, first, rank), type) *
                          scales[i];
    }
    return result;
  }
};

// Products of `x` are made by functions of this file.
bool HasOwnProducts(const torch::Tensor& x, torch::ScalarType type) {
  const bool rounds = type == torch::kBFloat16;
  const bool by_kernels = torch::GradMode::is_enabled() && HasProductKernels(x, type);
  return HasKernels(x) && x.dim() > 0 && (rounds || by_kernels);
}

// Calls product(x [R, D]), which gives [R, E], for x of any leading shape.
template <class OfRows>
torch::Tensor OverRows(const torch::Tensor& x, const OfRows& product) {
  if (x.dim() == 2) return product(x);
  const torch::Tensor y_RE = product(x.dim() == 1 ? x.unsqueeze(0) : x.flatten(0, -2));
  std::vector<int64_t> shape = x.sizes().vec();
  shape.back() = y_RE.size(1);
  return y_RE.view(shape);
}

// Of layers that stand one above the other; a single one is not copied.
torch::Tensor Together(tensor_list parts) {
  if (parts.empty() || !parts[0].defined()) return {};
  return parts.size() == 1 ? parts[0] : torch::cat(parts);
}

}  // namespace

torch::Tensor Linear(const torch::Tensor& input, const torch::Tensor& exact_weight,
                     const torch::Tensor& bias) {
  const torch::Tensor x = RoundedRows(input), weight = RoundedWeight(exact_weight);
  const torch::ScalarType type = ProductType(x);
  if (!HasOwnProducts(x, type)) return torch::linear(x, weight, bias);
  return OverRows(x, [&](const torch::Tensor& x_RD) {
    return LinearFunction::apply(x_RD, weight, IfDefined(bias), type);
  });
}

torch::Tensor Linear(const torch::Tensor& x, const std::vector<LinearLayer>& layers) {
  tensor_list weights, biases, factors;
  std::vector<AdaptedRows> adapted;
  int64_t first = 0;
  for (const LinearLayer& layer : layers) {
    weights.push_back(layer->weight);
    biases.push_back(layer->bias);
    const int64_t count = layer->weight.size(0);
    if (layer->adapted()) {
      adapted.push_back({first, count, layer->adapter_scale});
      factors.insert(factors.end(), {layer->adapter_a, layer->adapter_b});
    }
    first += count;
  }
  const torch::ScalarType type = ProductType(x);
  if (adapted.empty()) return Linear(x, Together(weights), Together(biases));
  if (!torch::GradMode::is_enabled() || !HasOwnProducts(x, type)) {
    for (size_t i = 0; i < layers.size(); ++i) weights[i] = layers[i]->Weight();
    return Linear(x, Together(weights), Together(biases));
  }
  const torch::Tensor weight = torch::cat(weights).detach(), bias = Together(biases);
  return OverRows(x, [&](const torch::Tensor& x_RD) {
    return AdaptedLinearFunction::apply(x_RD, weight, IfDefined(bias), at::TensorList(factors),
                                        adapted, type);
  });
}

}  // namespace attend::nn
