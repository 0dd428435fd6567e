// Peak loops for NEON. Includes nothing of the standard library: see kernels.h.
#include "kernels/vectors/int_neon.h"
// after Products
#include "kernels/peaks/peaks_neon.inc"

namespace attend {

PeakLoops NeonPeaks() noexcept { return {PeakF32, PeakInt8<PairProducts>}; }

}  // namespace attend
