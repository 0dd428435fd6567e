// The kernels for AVX2 and FMA. Includes nothing of the standard library: see kernels.h.
#include "engine/kernels/vec_avx2.h"
// after Vec
#include "engine/kernels/body.inc"

namespace attend {

static constexpr KernelTable kTable = {"avx2", kPanel, PackedSize, Pack,    Matmul,    LayerNorm,
                                       Embed,  SwiGlu, Exp,        Softmax, Attention, TopKOf};

const KernelTable* Avx2Kernels() noexcept { return &kTable; }

}  // namespace attend
