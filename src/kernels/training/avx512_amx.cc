// The training kernels for AVX-512 F, BW, DQ, VL and BF16, and AMX's tiles of bf16. Includes
// nothing of the standard library: see kernels/inference/kernels.h.
namespace attend {
using Real = float;
}
#include "kernels/vectors/amx_tiles.h"
#include "kernels/vectors/philox_avx2.h"
#include "kernels/vectors/vec_avx512.h"
// after Vec
#include "kernels/vectors/bf16_vec_avx512_bf16.h"
// after Vec
#include "kernels/vectors/fold.h"
#include "kernels/vectors/vector_math.inc"
// after its functions
#include "kernels/training/body.inc"
// after products of numbers
#include "kernels/training/bf16_product.inc"
// after products of pairs and tiles
#include "kernels/training/amx_product.inc"

namespace attend::nn {

static constexpr TrainKernels<Real> kTable =
    WithAmx(WithBf16(WithProducts(TableNamed("avx512_amx"))));

const TrainKernels<Real>* Avx512AmxTrainKernels() noexcept { return &kTable; }

}  // namespace attend::nn
