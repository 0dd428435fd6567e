// Peak loops for AVX-512 (F, BW). Includes nothing of the standard library: see kernels.h.
#include "kernels/vectors/int_avx512.h"
// after Vec and IntVec
#include "kernels/peaks/peaks.inc"

namespace attend {

PeakLoops Avx512Peaks() noexcept { return {PeakF32<12>, PeakInt8<12>}; }

}  // namespace attend
