#include "train/nn/bf16_products.h"

#include <ATen/autocast_mode.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "train/nn/fused/select_kernels.h"

namespace attend::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

// A product's input.
torch::Tensor InputOf(const torch::Tensor& x_RD) {
  return FilledRows(x_RD, FilledRowCount(x_RD.size(0)), torch::kBFloat16);
}

// a b in bf16, of which the first `rows` count.
torch::Tensor Product(const torch::Tensor& a, const torch::Tensor& b, int64_t rows) {
  return torch::mm(a, b).narrow(0, 0, rows).to(torch::kFloat32);
}

// x W^T + b of f32 tensors.
struct Bf16Linear : torch::autograd::Function<Bf16Linear> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x_RD,
                               const torch::Tensor& weight_ED,
                               const std::optional<torch::Tensor>& bias_E) {
    const torch::Tensor rounded_x = InputOf(x_RD), rounded_weight = weight_ED.to(torch::kBFloat16);
    context->save_for_backward({rounded_x, rounded_weight});
    context->saved_data["with_bias"] = bias_E.has_value();
    torch::Tensor result_RE = Product(rounded_x, rounded_weight.t(), x_RD.size(0));
    return bias_E ? result_RE.add_(*bias_E) : result_RE;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    CheckNoGraphWanted();
    const tensor_list saved = context->get_saved_variables();
    const auto& [x, weight] = std::tie(saved[0], saved[1]);
    const torch::Tensor& gradient_RE = gradients[0];
    const torch::Tensor rounded = InputOf(gradient_RE);
    tensor_list result(3);
    if (context->needs_input_grad(0)) result[0] = Product(rounded, weight, gradient_RE.size(0));
    if (context->needs_input_grad(1)) result[1] = Product(rounded.t(), x, weight.size(0));
    if (context->saved_data["with_bias"].toBool() && context->needs_input_grad(2))
      result[2] = gradient_RE.sum(0);
    return result;
  }
};

}  // namespace

Bf16Products::Bf16Products(const torch::Device& device, bool on)
    : device_(device.type()),
      was_on_(at::autocast::is_autocast_enabled(device_)),
      was_cached_(at::autocast::is_autocast_cache_enabled()),
      type_before_(at::autocast::get_autocast_dtype(device_)) {
  if (!on) return;
  at::autocast::set_autocast_dtype(device_, torch::kBFloat16);
  at::autocast::set_autocast_cache_enabled(false);
  at::autocast::set_autocast_enabled(device_, true);
}

Bf16Products::~Bf16Products() {
  at::autocast::set_autocast_enabled(device_, was_on_);
  at::autocast::set_autocast_cache_enabled(was_cached_);
  at::autocast::set_autocast_dtype(device_, type_before_);
}

torch::ScalarType ProductType(const torch::Tensor& x) {
  const c10::DeviceType device = x.device().type();
  if (x.scalar_type() == torch::kFloat64) return torch::kFloat64;  // which autocast leaves alone
  return at::autocast::is_autocast_enabled(device) ? at::autocast::get_autocast_dtype(device)
                                                   : x.scalar_type();
}

int64_t FilledRowCount(int64_t rows) {
  const auto octave = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(rows)));
  const int64_t step = std::max<int64_t>(octave / 16, 16);
  return (rows + step - 1) / step * step;
}

torch::Tensor FilledRows(const torch::Tensor& x_RD, int64_t rows, torch::ScalarType type) {
  const int64_t given = x_RD.size(0);
  if (given == rows) return x_RD.to(type).contiguous();
  torch::Tensor result = torch::empty({rows, x_RD.size(1)}, x_RD.options().dtype(type));
  result.narrow(0, 0, given).copy_(x_RD);
  result.narrow(0, given, rows - given).zero_();
  return result;
}

torch::Tensor Linear(const torch::Tensor& x, const torch::Tensor& weight,
                     const torch::Tensor& bias) {
  if (!x.is_cpu() || ProductType(x) != torch::kBFloat16) return torch::linear(x, weight, bias);
  // An autograd function takes no undefined tensor.
  const std::optional<torch::Tensor> given = bias.defined() ? std::optional(bias) : std::nullopt;
  if (x.dim() == 2) return Bf16Linear::apply(x, weight, given);
  std::vector<int64_t> shape = x.sizes().vec();
  shape.back() = weight.size(0);
  return Bf16Linear::apply(x.flatten(0, -2), weight, given).view(shape);
}

}  // namespace attend::nn
