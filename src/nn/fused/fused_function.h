// What the fused functions have in common: which tensors they take, checks, dropout.
#ifndef ATTEND_NN_FUSED_FUSED_FUNCTION_H_
#define ATTEND_NN_FUSED_FUSED_FUNCTION_H_

#include <optional>

#include "attend/nn/torch.h"
#include "kernels/training/dispatch.h"

namespace attend::nn {

// Fused functions run on CPU tensors of f32, and of f64 for checking gradients; all others take the
// plain versions. The one place that decides.
bool HasKernels(const torch::Tensor& x);

// Calls body with a Real of the tensor's type. Precondition: HasKernels(x).
template <class Body>
void WithReal(const torch::Tensor& x, Body body) {
  if (x.scalar_type() == torch::kFloat32) {
    body(float{});
  } else {
    body(double{});
  }
}

// `x`, lying together in memory; an autograd function takes no undefined tensor.
std::optional<torch::Tensor> IfDefined(const torch::Tensor& x);

// Throws Error(kInput) for an id that is none of `rows`; kernels trust theirs. Ids are on the CPU.
void CheckIds(const torch::Tensor& ids_R, int64_t rows, int64_t first = 0);
// Throws Error(kInput) unless there is one of `what` for each of `count` `others`.
void CheckCount(const torch::Tensor& x, const char* what, int64_t count, const char* others);
// For a backward pass that makes no graph of itself: throws Error(kUsage) where one is wanted.
void CheckNoGraphWanted();

// What a tensor [rows, width] is multiplied by at this site: 0, or one over the share that is kept.
torch::Tensor DropoutMask(const DropoutSite& site, int64_t rows, int64_t width,
                          const torch::TensorOptions& options);

// Dropout by LibTorch's operations. On a GPU the numbers are LibTorch's own.
torch::Tensor PlainDropout(const torch::Tensor& x, const DropoutSite& site);

// Keeps a site between the forward and the backward pass.
void SaveSite(const DropoutSite& site, torch::autograd::AutogradContext* context);
DropoutSite SavedSite(torch::autograd::AutogradContext* context);

}  // namespace attend::nn

#endif  // ATTEND_NN_FUSED_FUSED_FUNCTION_H_
