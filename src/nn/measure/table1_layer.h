// The layer types of the paper's Table 1, each over one sequence: what LayerCost is measured of.
#ifndef ATTEND_NN_MEASURE_TABLE1_LAYER_H_
#define ATTEND_NN_MEASURE_TABLE1_LAYER_H_

#include <cstdint>
#include <memory>

#include "attend/nn/torch.h"
#include "nn/measure/layer_cost.h"

namespace attend::nn {

class Table1Layer : public torch::nn::Module {
 public:
  virtual int64_t InputWidth() const = 0;
  // Rows [n, InputWidth()], a position each, to [n, D]. A dilated convolution is the layer `depth`,
  // from 0, of its stack.
  virtual torch::Tensor Forward(const torch::Tensor& x_ND, int64_t depth) = 0;
  // Numbers that have no fused functions.
  virtual torch::ScalarType PlainType() const { return torch::kHalf; }
  // How many layers, or steps of a recurrence, a gradient passes from the last of `length`
  // positions to the first one.
  virtual int64_t PathLength(int64_t length);
};

// With random weights.
std::unique_ptr<Table1Layer> MakeTable1Layer(const LayerShape& shape);

}  // namespace attend::nn

#endif  // ATTEND_NN_MEASURE_TABLE1_LAYER_H_
