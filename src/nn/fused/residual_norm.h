// Dropout, the residual sum and layer norm as one pass over memory, and its gradient as another.
// The plain versions, made of LibTorch's operations, are the oracle of the fused ones' tests and
// what runs where there are no kernels.
#ifndef ATTEND_NN_FUSED_RESIDUAL_NORM_H_
#define ATTEND_NN_FUSED_RESIDUAL_NORM_H_

#include "attend/nn/dropout.h"
#include "attend/nn/norm.h"
#include "attend/nn/torch.h"

namespace attend::nn {

// x + dropout(sublayer), all [..., D]; dropout(sublayer) where x is undefined.
torch::Tensor PlainAddDropped(const torch::Tensor& x, const torch::Tensor& sublayer,
                              const DropoutSite& site);
torch::Tensor AddDropped(const torch::Tensor& x, const torch::Tensor& sublayer,
                         const DropoutSite& site);

// norm(x + dropout(sublayer)); of an RMS norm in two passes.
torch::Tensor PlainResidualNorm(const torch::Tensor& x, const torch::Tensor& sublayer,
                                const DropoutSite& site, NormImpl& norm);
torch::Tensor ResidualNorm(const torch::Tensor& x, const torch::Tensor& sublayer,
                           const DropoutSite& site, NormImpl& norm);

}  // namespace attend::nn

#endif  // ATTEND_NN_FUSED_RESIDUAL_NORM_H_
