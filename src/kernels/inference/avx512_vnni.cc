// The kernels for AVX-512 with VNNI. Includes nothing of the standard library: see kernels.h.
#include "kernels/vectors/int_vnni.h"
// after Vec
#include "kernels/inference/body.inc"
// after the body
#include "kernels/inference/attention.inc"
#include "kernels/inference/int8.inc"

namespace attend {

static constexpr KernelTable kTable = TableNamed("avx512_vnni");

const KernelTable* Avx512VnniKernels() noexcept { return &kTable; }

}  // namespace attend
