// The kernels for AVX-512 F, BW, DQ and VL. Includes nothing of the standard library: see
// kernels.h.
#include "kernels/vectors/int_avx512.h"
// after Vec
#include "kernels/inference/body.inc"
// after the body
#include "kernels/inference/attention.inc"
#include "kernels/inference/int8.inc"

namespace attend {

static constexpr KernelTable kTable = TableNamed("avx512");

const KernelTable* Avx512Kernels() noexcept { return &kTable; }

}  // namespace attend
