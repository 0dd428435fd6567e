// Peak loops for NEON with dot products of int8. Includes nothing of the standard library: see
// kernels.h.
#include "kernels/vectors/int_neon_dot.h"
// after Products
#include "kernels/peaks/peaks_neon.inc"

namespace attend {

PeakLoops NeonDotPeaks() noexcept { return {PeakF32, PeakInt8<DotProducts>}; }

}  // namespace attend
