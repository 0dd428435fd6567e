// A convolution over time as a product: each row of the result reads some rows of what comes in,
// which stand side by side.
#ifndef ATTEND_ENGINE_BLOCKS_CONVOLUTION_H_
#define ATTEND_ENGINE_BLOCKS_CONVOLUTION_H_

#include <cstdint>
#include <string>

#include "engine/blocks/layer.h"

namespace attend {

struct ConvolutionShape {
  int64_t in = 0;      // numbers of a row
  int64_t kernel = 1;  // rows that are read; odd
  int64_t stride = 1;  // from the middle of one to that of the next
};

// Immutable; shared between threads, each with a Scratch of its own.
class TimeConvolution {
 public:
  // The tensors `name`.weight and `name`.bias.
  TimeConvolution(const WeightSource& weights, const std::string& name,
                  const ConvolutionShape& shape);

  int64_t RowsOf(int64_t rows) const { return (rows + shape_.stride - 1) / shape_.stride; }
  int64_t columns() const { return product_.columns(); }
  // gelu of the convolution of one recording's rows, zeros beyond its ends: x [rows, in] to
  // y [RowsOf(rows), columns]. Takes the scratch's inner_RF.
  void Apply(const float* x_TI, int64_t rows, Scratch* scratch, float* y_RD) const;

 private:
  // The rows that row `row` of the result reads.
  void Gather(const float* x_TI, int64_t rows, int64_t row, float* window) const;

  Linear product_;
  ConvolutionShape shape_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_BLOCKS_CONVOLUTION_H_
