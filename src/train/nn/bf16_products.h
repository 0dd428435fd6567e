// Matrix products in bf16, by LibTorch's autocast.
#ifndef ATTEND_TRAIN_NN_BF16_PRODUCTS_H_
#define ATTEND_TRAIN_NN_BF16_PRODUCTS_H_

#include "attend/nn/torch.h"

namespace attend::nn {

// While one lives and `on`, the products that the calling thread computes on such a device, forward
// and (of what is computed now) backward, have inputs and results in bf16; on a GPU so has what
// lies between two of them. Parameters, their gradients and updates, the sums of residual
// connections, norms and losses stay in f32. Each use of a weight is rounded anew: the rounded ones
// that autocast would keep are shared by threads, and with them the order of sums.
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

// The number that Linear fills `rows` up to: a multiple of 16, from 512 rows on of a sixteenth of
// the power of two at or below `rows`.
int64_t FilledRowCount(int64_t rows);

// `x_RD` in `type` with zeros in rows added to it: [rows, D].
torch::Tensor FilledRows(const torch::Tensor& x_RD, int64_t rows, torch::ScalarType type);

// torch::linear, x W^T + b. Under Bf16Products on a CPU the result is in f32; as LibTorch compiles
// a product there anew for every shape, which takes longer than the products of a small model,
// rows are filled up to FilledRowCount, so that few shapes come up.
torch::Tensor Linear(const torch::Tensor& x, const torch::Tensor& weight,
                     const torch::Tensor& bias);
inline torch::Tensor Linear(const torch::Tensor& x, const torch::nn::Linear& linear) {
  return Linear(x, linear->weight, linear->bias);
}

}  // namespace attend::nn

#endif  // ATTEND_TRAIN_NN_BF16_PRODUCTS_H_
