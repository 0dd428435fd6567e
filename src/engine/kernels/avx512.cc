// The kernels for AVX-512 (F, BW, DQ, VL). Includes nothing of the standard library: see kernels.h.
#include "engine/kernels/vec_avx512.h"
// after Vec
#include "engine/kernels/body.inc"

namespace attend {

static constexpr KernelTable kTable = {"avx512", kPanel, PackedSize, Pack,    Matmul,    LayerNorm,
                                       Embed,    SwiGlu, Exp,        Softmax, Attention, TopKOf};

const KernelTable* Avx512Kernels() noexcept { return &kTable; }

}  // namespace attend
