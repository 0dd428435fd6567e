// Products of int8 by smull, whose sums of two fit 16 bits: quantised values are at most 127 in
// magnitude, and 2 * 127 * 128 < 2^15. Internal linkage throughout: see kernels.h.
#ifndef ATTEND_KERNELS_VECTORS_INT_NEON_H_
#define ATTEND_KERNELS_VECTORS_INT_NEON_H_

#include "kernels/vectors/int_vec_neon.h"

namespace attend {
namespace {

struct PairProducts {
  static int32x4_t Add(int32x4_t sums, int8x16_t values, int8x16_t weights) {
    const int16x8_t low = vmull_s8(vget_low_s8(values), vget_low_s8(weights));
    return vpadalq_s16(sums, vpaddq_s16(low, vmull_high_s8(values, weights)));
  }
};

using IntVec = IntVecOf<PairProducts>;

}  // namespace
}  // namespace attend

#endif  // ATTEND_KERNELS_VECTORS_INT_NEON_H_
