// Matrix products with a factor that is packed once for many rows.
#ifndef ATTEND_NN_FUSED_PACKED_FACTOR_H_
#define ATTEND_NN_FUSED_PACKED_FACTOR_H_

#include "attend/nn/torch.h"

namespace attend::nn {

// The right factor of products, in the type they are computed in: that of the matrix, or bf16, to
// which both factors are rounded. On CPUs with vector instructions, and in f64, kernels of our own
// multiply and add up in the type of the result, each sum over the inner dimension in one order
// whatever the number of rows and threads; elsewhere LibTorch does.
class PackedFactor {
 public:
  PackedFactor(const torch::Tensor& b_DE, torch::ScalarType type);

  // result = a b + bias. `a` may be transposed; a row of the result lies together in memory. Throws
  // Error(kUsage) for shapes that do not fit, and where kernels multiply for tensors that are not
  // all of one type.
  void Multiply(const torch::Tensor& a_RD, const torch::Tensor& result_RE,
                const torch::Tensor& bias_E = {}) const;
  // result += a b
  void MultiplyAdd(const torch::Tensor& a_RD, const torch::Tensor& result_RE) const;

 private:
  struct Target {
    torch::Tensor result_RE, bias_E;
    bool add;
  };
  void MultiplyInto(const torch::Tensor& a_RD, const Target& target) const;
  template <class Element>
  void RunKernels(const Element* a, at::IntArrayRef strides, const Target& target) const;
  void RunTorch(const torch::Tensor& a_RD, const Target& target) const;

  torch::ScalarType type_;
  torch::Tensor b_DE_;    // for LibTorch in `type_`
  int64_t inner_;         // what kernels count: pairs in bf16
  torch::Tensor packed_;  // bytes for kernels, or undefined
};

// Whether products with `x` in `type` are made by kernels.
bool HasProductKernels(const torch::Tensor& x, torch::ScalarType type);

}  // namespace attend::nn

#endif  // ATTEND_NN_FUSED_PACKED_FACTOR_H_
