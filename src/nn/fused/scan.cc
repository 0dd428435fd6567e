#include "nn/fused/scan.h"

#include <algorithm>
#include <vector>

#include "attend/nn/decoder_state.h"
#include "nn/fused/fused_function.h"

namespace attend::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

// Calls body(row) for the rows of each sentence, and begin() before each sentence.
template <class Begin, class Body>
void ForEachRow(const torch::Tensor& offsets_B1, bool backwards, const Begin& begin,
                const Body& body) {
  const int64_t* offsets = offsets_B1.const_data_ptr<int64_t>();
  for (int64_t b = 0; b + 1 < offsets_B1.size(0); ++b) {
    begin();
    const int64_t first = offsets[b], last = offsets[b + 1];
    for (int64_t i = first; i < last; ++i) body(backwards ? last - 1 - (i - first) : i);
  }
}

struct ScanFunction : torch::autograd::Function<ScanFunction> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& keep_RD,
                               const torch::Tensor& input_RD, const torch::Tensor& offsets_B1) {
    const torch::Tensor state_RD = torch::empty_like(input_RD);
    WithReal(input_RD, [&](auto real) {
      using Real = decltype(real);
      const int64_t width = input_RD.size(1);
      const std::vector<Real> zeros(width);
      const Real *keep = keep_RD.const_data_ptr<Real>(), *input = input_RD.const_data_ptr<Real>();
      const Real* before = nullptr;
      Real* state = state_RD.mutable_data_ptr<Real>();
      ForEachRow(
          offsets_B1, false, [&] { before = zeros.data(); },
          [&](int64_t row) {
            for (int64_t d = 0; d < width; ++d) {
              const int64_t at = row * width + d;
              state[at] = keep[at] * before[d] + input[at];
            }
            before = state + row * width;
          });
    });
    context->save_for_backward({keep_RD, state_RD, offsets_B1});
    return state_RD;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    CheckNoGraphWanted();
    const tensor_list saved = context->get_saved_variables();
    const torch::Tensor &keep_RD = saved[0], &state_RD = saved[1], &offsets_B1 = saved[2];
    const torch::Tensor from_RD = gradients[0].contiguous();
    const torch::Tensor keep_gradient_RD = torch::empty_like(keep_RD),
                        input_gradient_RD = torch::empty_like(keep_RD);
    WithReal(keep_RD, [&](auto real) {
      using Real = decltype(real);
      const int64_t width = keep_RD.size(1);
      const Real *keep = keep_RD.const_data_ptr<Real>(), *state = state_RD.const_data_ptr<Real>(),
                 *from = from_RD.const_data_ptr<Real>();
      Real *of_keep = keep_gradient_RD.mutable_data_ptr<Real>(),
           *of_input = input_gradient_RD.mutable_data_ptr<Real>();
      const int64_t* first = offsets_B1.const_data_ptr<int64_t>();
      std::vector<Real> carried(width);  // of the state, from the rows behind
      ForEachRow(
          offsets_B1, true,
          [&] {
            std::fill(carried.begin(), carried.end(), Real{0});
            ++first;
          },
          [&](int64_t row) {
            const bool begins = row == first[-1];
            for (int64_t d = 0; d < width; ++d) {
              const int64_t at = row * width + d;
              const Real gradient = from[at] + carried[d];
              of_input[at] = gradient;
              of_keep[at] = begins ? 0 : gradient * state[at - width];
              carried[d] = gradient * keep[at];
            }
          });
    });
    return {keep_gradient_RD, input_gradient_RD, {}};
  }
};

}  // namespace

torch::Tensor PlainScan(const torch::Tensor& keep_BTD, const torch::Tensor& input_BTD) {
  std::vector<torch::Tensor> states;
  for (int64_t t = 0; t < input_BTD.size(1); ++t) {
    const torch::Tensor input_BD = input_BTD.select(1, t);
    states.push_back(t == 0 ? input_BD : keep_BTD.select(1, t) * states.back() + input_BD);
  }
  return states.empty() ? input_BTD : torch::stack(states, 1);
}

torch::Tensor PlainPackedScan(const torch::Tensor& keep_RD, const torch::Tensor& input_RD,
                              const torch::Tensor& offsets_B1) {
  const torch::Tensor state_BTD =
      PlainScan(PadSentences(keep_RD, offsets_B1), PadSentences(input_RD, offsets_B1));
  const torch::Tensor lengths_B1 = offsets_B1.diff().unsqueeze(1);
  const torch::Tensor places_R =
      (torch::arange(state_BTD.size(1)) < lengths_B1).flatten().nonzero().squeeze(1);
  return state_BTD.flatten(0, 1).index_select(0, places_R.to(state_BTD.device()));
}

torch::Tensor Scan(const torch::Tensor& keep_RD, const torch::Tensor& input_RD,
                   const torch::Tensor& offsets_B1) {
  if (!HasKernels(input_RD)) return PlainPackedScan(keep_RD, input_RD, offsets_B1);
  return ScanFunction::apply(keep_RD.contiguous(), input_RD.contiguous(), offsets_B1);
}

}  // namespace attend::nn
