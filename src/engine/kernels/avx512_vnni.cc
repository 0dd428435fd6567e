// The kernels for AVX-512 with VNNI. Includes nothing of the standard library: see kernels.h.
#include "engine/kernels/int_vnni.h"
// after Vec
#include "engine/kernels/body.inc"
// after the body
#include "engine/kernels/int8.inc"

namespace attend {

static constexpr KernelTable kTable = {
    "avx512_vnni",  kPanel,       PackedSize, Pack,       Matmul,    QuantizedRowSize,
    PackedSizeInt8, QuantizeRows, PackInt8,   MatmulInt8, LayerNorm, Embed,
    EmbedInt8,      SwiGlu,       Exp,        Softmax,    Attention, TopKOf};

const KernelTable* Avx512VnniKernels() noexcept { return &kTable; }

}  // namespace attend
