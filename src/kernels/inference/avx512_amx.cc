// The kernels for AVX-512 with VNNI and AMX. Includes nothing of the standard library: see
// kernels.h.
#include "kernels/vectors/amx_tiles.h"
#include "kernels/vectors/int_vnni.h"
// after Vec
#include "kernels/inference/body.inc"
// after the body
#include "kernels/inference/attention.inc"
#include "kernels/inference/int8.inc"
// after products of int8 and tiles
#include "kernels/inference/amx_int8.inc"

namespace attend {

static constexpr KernelTable kTable = WithTiles(TableNamed("avx512_amx"));

const KernelTable* Avx512AmxKernels() noexcept { return &kTable; }

}  // namespace attend
