// Products of int8 by vpdpbusd, which adds unsigned times signed in 32 bits. Internal linkage
// throughout: see kernels.h.
#ifndef ATTEND_KERNELS_VECTORS_INT_VNNI_H_
#define ATTEND_KERNELS_VECTORS_INT_VNNI_H_

#include "kernels/vectors/int_vec_avx512.h"

namespace attend {
namespace {

struct DotProducts {
  static constexpr bool kPairsSaturate = false;
  static __m512i Add(__m512i sums, __m512i values, __m512i weights) {
    return _mm512_dpbusd_epi32(sums, values, weights);
  }
};

using IntVec = IntVecOf<DotProducts>;

}  // namespace
}  // namespace attend

#endif  // ATTEND_KERNELS_VECTORS_INT_VNNI_H_
