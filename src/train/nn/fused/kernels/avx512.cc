// The training kernels for AVX-512 F, BW, DQ and VL. Includes nothing of the standard library: see
// engine/kernels/kernels.h.
namespace attend {
using Real = float;
}
#include "engine/kernels/fold.h"
#include "engine/kernels/philox_avx2.h"
#include "engine/kernels/vec_avx512.h"
// after Vec
#include "engine/kernels/bf16_vec_avx512.h"
// after Vec
#include "engine/kernels/vector_math.inc"
// after its functions
#include "train/nn/fused/kernels/body.inc"
// after products of numbers
#include "train/nn/fused/kernels/bf16_product.inc"

namespace attend::nn {

static constexpr TrainKernels<Real> kTable = WithBf16(WithProducts(TableNamed("avx512")));

const TrainKernels<Real>* Avx512TrainKernels() noexcept { return &kTable; }

}  // namespace attend::nn
