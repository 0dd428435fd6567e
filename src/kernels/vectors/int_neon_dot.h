// Products of int8 by sdot, which adds four of them in 32 bits. Internal linkage throughout: see
// kernels.h.
#ifndef ATTEND_KERNELS_VECTORS_INT_NEON_DOT_H_
#define ATTEND_KERNELS_VECTORS_INT_NEON_DOT_H_

#include "kernels/vectors/int_vec_neon.h"

namespace attend {
namespace {

struct DotProducts {
  static int32x4_t Add(int32x4_t sums, int8x16_t values, int8x16_t weights) {
    return vdotq_s32(sums, values, weights);
  }
};

using IntVec = IntVecOf<DotProducts>;

}  // namespace
}  // namespace attend

#endif  // ATTEND_KERNELS_VECTORS_INT_NEON_DOT_H_
