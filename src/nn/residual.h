// The residual connection around a sub-layer, section 3.1, with the norm before or after it.
#ifndef ATTEND_NN_RESIDUAL_H_
#define ATTEND_NN_RESIDUAL_H_

#include "attend/model_config.h"
#include "attend/nn/torch.h"
#include "nn/fused/residual_norm.h"

namespace attend::nn {

// What stands around every sub-layer of one layer.
struct Residual {
  NormPlace norm_place;
  double dropout;
  bool training;
  DropoutStream* stream;

  // Norm(x + Dropout(Sublayer(x))) in one pass after the sub-layer, or
  // x + Dropout(Sublayer(Norm(x))) in one before and one after it.
  template <class Sublayer>
  torch::Tensor operator()(const torch::Tensor& x_BTD, Norm& norm, const Sublayer& sublayer) const {
    if (norm_place == NormPlace::kPre) {
      const torch::Tensor output_BTD = sublayer(norm(x_BTD));
      return AddDropped(x_BTD, output_BTD, NextSite(stream, dropout, training));
    }
    const torch::Tensor output_BTD = sublayer(x_BTD);
    return ResidualNorm(x_BTD, output_BTD, NextSite(stream, dropout, training), *norm);
  }
};

}  // namespace attend::nn

#endif  // ATTEND_NN_RESIDUAL_H_
