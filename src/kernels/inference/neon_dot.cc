// The kernels for NEON with dot products of int8. Includes nothing of the standard library: see
// kernels.h.
#include "kernels/vectors/int_neon_dot.h"
// after Vec
#include "kernels/inference/body.inc"
// after the body
#include "kernels/inference/attention.inc"
#include "kernels/inference/int8.inc"

namespace attend {

static constexpr KernelTable kTable = TableNamed("neon_dot");

const KernelTable* NeonDotKernels() noexcept { return &kTable; }

}  // namespace attend
