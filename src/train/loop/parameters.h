// The parameters that a module learns, and their gradients, each laid out in one flat buffer, so
// that the optimiser, the norm and the averages are single passes over memory.
#ifndef ATTEND_TRAIN_LOOP_PARAMETERS_H_
#define ATTEND_TRAIN_LOOP_PARAMETERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "attend/nn/torch.h"
#include "model/tensor_table.h"

namespace attend {

// Where each parameter stands in a flat buffer. Plain values.
struct FlatLayout {
  struct Entry {
    std::string name;
    std::vector<int64_t> shape;
    int64_t offset = 0;  // elements; a multiple of 16
  };
  std::vector<Entry> entries;
  int64_t size = 0;  // elements, padding between parameters included

  // The part of `flat` that belongs to `entry`, in its shape.
  static torch::Tensor View(const torch::Tensor& flat, const Entry& entry);
  // Adds the parameters of `flat_on_cpu`, which must outlive the table, as F32 tensors named prefix
  // + name.
  void AddTo(TensorTable* table, const torch::Tensor& flat_on_cpu,
             const std::string& prefix = "") const;
  // Copies `table`'s tensors into `flat`. Throws Error(kInput) naming a tensor that is missing or
  // has another shape.
  void Read(const TensorTable& table, const std::string& prefix, torch::Tensor* flat) const;
};

// Copies the tensors of a model or checkpoint into the module's parameters, by name. Throws
// Error(kInput) naming a tensor that is missing, is not f32 or has another shape.
// Parameters whose name begins with one of `but` stay as they are. What adapters add becomes
// nothing.
void ReadParameters(const TensorTable& table, torch::nn::Module* module,
                    const std::vector<std::string>& but = {});

// Elements of a module's parameters; `trained`: of those that need a gradient.
int64_t CountParameters(const torch::nn::Module& module, bool trained);

// Owns the flat buffers; the module's parameters that need a gradient become views of the weights.
// The others are no part of it. One owner; not thread-safe.
class Parameters {
 public:
  // Precondition: some parameter needs a gradient, and those that do are f32 and on one device.
  explicit Parameters(torch::nn::Module* module);

  const FlatLayout& layout() const { return layout_; }
  torch::Tensor& weights() { return weights_; }
  const torch::Tensor& weights() const { return weights_; }
  torch::Tensor& gradients() { return gradients_; }
  // Of the module, in the order of the layout.
  const std::vector<torch::Tensor>& tensors() const { return tensors_; }

  // The name of the first parameter whose gradient holds NaN or Inf, or "".
  std::string FirstNonFiniteGradient() const;

 private:
  std::vector<torch::Tensor> tensors_;
  FlatLayout layout_;
  torch::Tensor weights_;
  torch::Tensor gradients_;
};

}  // namespace attend

#endif  // ATTEND_TRAIN_LOOP_PARAMETERS_H_
