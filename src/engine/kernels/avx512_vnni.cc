// The kernels for AVX-512 with VNNI. Includes nothing of the standard library: see kernels.h.
#include "engine/kernels/int_vnni.h"
// after Vec
#include "engine/kernels/body.inc"
// after the body
#include "engine/kernels/int8.inc"

namespace attend {

static constexpr KernelTable kTable = TableNamed("avx512_vnni");

const KernelTable* Avx512VnniKernels() noexcept { return &kTable; }

}  // namespace attend
