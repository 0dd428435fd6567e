// Peak loops for AVX2 and FMA. Includes nothing of the standard library: see kernels.h.
#include "kernels/vectors/int_avx2.h"
// after Vec and IntVec
#include "kernels/peaks/peaks.inc"

namespace attend {

PeakLoops Avx2Peaks() noexcept { return {PeakF32<12>, PeakInt8<6>}; }

}  // namespace attend
