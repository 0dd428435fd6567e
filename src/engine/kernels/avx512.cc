// The kernels for AVX-512 F, BW, DQ and VL. Includes nothing of the standard library: see
// kernels.h.
#include "engine/kernels/int_avx512.h"
// after Vec
#include "engine/kernels/body.inc"
// after the body
#include "engine/kernels/int8.inc"

namespace attend {

static constexpr KernelTable kTable = TableNamed("avx512");

const KernelTable* Avx512Kernels() noexcept { return &kTable; }

}  // namespace attend
