// Peak loops for AVX-512 with VNNI. Includes nothing of the standard library: see kernels.h.
#include "kernels/vectors/int_vnni.h"
// after Vec and IntVec
#include "kernels/peaks/peaks.inc"

namespace attend {

PeakLoops Avx512VnniPeaks() noexcept { return {PeakF32<12>, PeakInt8<12>}; }

}  // namespace attend
