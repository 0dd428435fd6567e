// Matrix products in bf16: LibTorch's autocast, which on CPUs `Linear` and the projected losses
// take as a switch for kernels of their own.
#ifndef ATTEND_NN_BF16_PRODUCTS_H_
#define ATTEND_NN_BF16_PRODUCTS_H_

#include "attend/nn/torch.h"

namespace attend::nn {

// While one lives and `on`, the products that the calling thread computes on such a device, forward
// and (of what is computed now) backward, have inputs in bf16; so have their results and what
// lies between two of them, but on CPUs those of `Linear` and the projected losses of f32 inputs,
// which are f32.
// Parameters, their gradients and updates, the sums of residual connections, norms and losses stay
// in f32. Each use of a weight is rounded anew: the rounded ones that autocast would keep are
// shared by threads, and with them the order of sums.
class Bf16Products {
 public:
  Bf16Products(const torch::Device& device, bool on);
  ~Bf16Products();
  Bf16Products(const Bf16Products&) = delete;
  Bf16Products& operator=(const Bf16Products&) = delete;

 private:
  c10::DeviceType device_;
  bool was_on_, was_cached_;
  torch::ScalarType type_before_;
};

// What a product with `x` takes its inputs in: the type of `x`, or bf16.
torch::ScalarType ProductType(const torch::Tensor& x);

}  // namespace attend::nn

#endif  // ATTEND_NN_BF16_PRODUCTS_H_
