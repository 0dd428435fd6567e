#include "attend/nn/recurrence.h"

#include "nn/fused/fused_function.h"
#include "nn/fused/scan.h"
#include "nn/linear.h"

namespace attend::nn {

SsruImpl::SsruImpl(const StackConfig& config) {
  input = register_module("input", LinearLayer(config.d_model, config.d_model, false));
  forget = register_module("forget", LinearLayer(config.d_model, config.d_model, true));
}

torch::Tensor SsruImpl::forward(const torch::Tensor& x_BTD, const AttentionMask& mask) {
  const torch::Tensor keep_BTD = torch::sigmoid(Linear(x_BTD, forget));
  const torch::Tensor input_BTD = (1 - keep_BTD) * Linear(x_BTD, input);
  if (mask.packed()) return Scan(keep_BTD, input_BTD, mask.query_offsets_B1).relu();
  if (!HasKernels(x_BTD)) return PlainScan(keep_BTD, input_BTD).relu();
  const int64_t length = x_BTD.size(1);
  const torch::Tensor offsets_B1 = torch::arange(x_BTD.size(0) + 1) * length;
  return Scan(keep_BTD.flatten(0, 1), input_BTD.flatten(0, 1), offsets_B1)
      .view_as(input_BTD)
      .relu();
}

torch::Tensor SsruImpl::Step(const torch::Tensor& x_RD, torch::Tensor* state_RD) {
  const torch::Tensor keep_RD = torch::sigmoid(Linear(x_RD, forget));
  *state_RD = keep_RD * *state_RD + (1 - keep_RD) * Linear(x_RD, input);
  return state_RD->relu();
}

}  // namespace attend::nn
