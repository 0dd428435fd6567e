// The matrices of the stacks' layers, and low-rank adapters of them: Hu et al. 2021, "LoRA".
#ifndef ATTEND_NN_LINEAR_LAYER_H_
#define ATTEND_NN_LINEAR_LAYER_H_

#include <cstdint>
#include <string>

#include "attend/nn/adapter_shape.h"
#include "attend/nn/torch.h"

namespace attend::nn {

// x W^T + b or, with an adapter, x (W + scale B A)^T + b. nn/linear.h multiplies.
class LinearLayerImpl : public torch::nn::LinearImpl {
 public:
  LinearLayerImpl(int64_t in, int64_t out, bool with_bias);

  // Adds the parameters adapter_a [rank, in], N(0, 1 / in) by `generator`, and adapter_b
  // [out, rank], zeros: at first nothing is changed.
  void AddAdapter(const AdapterShape& shape, const torch::Generator& generator);
  bool adapted() const { return adapter_a.defined(); }
  // What x is multiplied by.
  torch::Tensor Weight() const;

  torch::Tensor adapter_a, adapter_b;  // undefined without an adapter
  double adapter_scale = 0;
};
TORCH_MODULE(LinearLayer);

// A parameter of this name is an adapter's, or its B.
bool IsOfAdapter(const std::string& parameter);
bool IsAdapterB(const std::string& parameter);

// Gives layers of the stacks in `module` adapters, whose A follow from `seed`. Of its parameters
// these alone need gradients afterwards, and with `train_head` those of its head.
void AddAdapters(torch::nn::Module* module, const AdapterShape& shape, uint64_t seed,
                 bool train_head);

}  // namespace attend::nn

#endif  // ATTEND_NN_LINEAR_LAYER_H_
