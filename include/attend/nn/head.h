// What stands on the last stack of a model.
#ifndef ATTEND_NN_HEAD_H_
#define ATTEND_NN_HEAD_H_

#include "attend/model_config.h"
#include "attend/nn/crf.h"
#include "attend/nn/norm.h"
#include "attend/nn/torch.h"

namespace attend::nn {

// What a head has of its own: `weight` [V, D] where it is not tied, `bias` [V] where there is one,
// and the layers before the projection that an encoder's head may have.
class HeadImpl : public torch::nn::Module {
 public:
  explicit HeadImpl(const ModelConfig& config);
  // What the projection reads: hidden states, or what the layers before it make of them.
  torch::Tensor forward(const torch::Tensor& hidden_RD);

  torch::Tensor weight, bias;
  CrfScores crf;  // undefined without one
  // For masked tokens: norm(activation(transform(x))).
  torch::nn::Linear transform{nullptr};
  Norm norm{nullptr};
  torch::nn::Linear pooler{nullptr};  // for texts: tanh(pooler(x))

 private:
  Activation activation_;
  PoolerActivation pooler_activation_;
};
TORCH_MODULE(Head);

}  // namespace attend::nn

#endif  // ATTEND_NN_HEAD_H_
