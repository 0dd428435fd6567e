// The kernels for AVX2 and FMA. Includes nothing of the standard library: see kernels.h.
#include "kernels/vectors/int_avx2.h"
// after Vec
#include "kernels/inference/body.inc"
// after the body
#include "kernels/inference/attention.inc"
#include "kernels/inference/int8.inc"

namespace attend {

static constexpr KernelTable kTable = TableNamed("avx2");

const KernelTable* Avx2Kernels() noexcept { return &kTable; }

}  // namespace attend
