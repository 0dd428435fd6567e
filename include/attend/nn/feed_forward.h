// The position-wise feed-forward layer, section 3.3.
#ifndef ATTEND_NN_FEED_FORWARD_H_
#define ATTEND_NN_FEED_FORWARD_H_

#include "attend/model_config.h"
#include "attend/nn/dropout.h"
#include "attend/nn/linear_layer.h"
#include "attend/nn/torch.h"

namespace attend::nn {

// outer(activation(inner(x))): ReLU (the paper), or GELU (exact, by the error function); with
// SwiGLU outer(silu(gate(x)) * inner(x)).
class PositionwiseFeedForwardImpl : public torch::nn::Module {
 public:
  // `hidden_dropout` acts between the two products; the paper has none there.
  explicit PositionwiseFeedForwardImpl(const StackConfig& config, double hidden_dropout = 0);
  torch::Tensor forward(const torch::Tensor& input_BTD, DropoutStream* dropout = nullptr);

  LinearLayer inner{nullptr}, gate{nullptr}, outer{nullptr};  // `gate` is empty but for SwiGLU

 private:
  torch::Tensor Hidden(const torch::Tensor& input_BTD);

  Activation activation_;
  double hidden_dropout_;
};
TORCH_MODULE(PositionwiseFeedForward);

}  // namespace attend::nn

#endif  // ATTEND_NN_FEED_FORWARD_H_
