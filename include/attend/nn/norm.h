// Normalisation of rows: layer norm (section 3.1), or RMS norm (Zhang and Sennrich 2019), T5's.
#ifndef ATTEND_NN_NORM_H_
#define ATTEND_NN_NORM_H_

#include "attend/model_config.h"
#include "attend/nn/torch.h"

namespace attend::nn {

// (x - mean) / sqrt(variance + epsilon) * weight + bias, or x / sqrt(mean of x^2 + epsilon) *
// weight, over the last dimension.
class NormImpl : public torch::nn::Module {
 public:
  // Weights 1, biases 0.
  NormImpl(int64_t width, double epsilon, NormKind kind = NormKind::kLayerNorm);
  // As the configuration of a stack has it.
  explicit NormImpl(const StackConfig& config);
  torch::Tensor forward(const torch::Tensor& x_RD);

  torch::Tensor weight, bias;  // [D]; an RMS norm has no bias
  double epsilon;
};
TORCH_MODULE(Norm);

}  // namespace attend::nn

#endif  // ATTEND_NN_NORM_H_
