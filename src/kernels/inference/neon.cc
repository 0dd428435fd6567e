// The kernels for NEON, which every aarch64 processor has. Includes nothing of the standard
// library: see kernels.h.
#include "kernels/vectors/int_neon.h"
// after Vec
#include "kernels/inference/body.inc"
// after the body
#include "kernels/inference/attention.inc"
#include "kernels/inference/int8.inc"

namespace attend {

static constexpr KernelTable kTable = TableNamed("neon");

const KernelTable* NeonKernels() noexcept { return &kTable; }

}  // namespace attend
