// Products of int8 by vpmaddubsw, which adds pairs of unsigned times signed in 16 bits and
// saturates. Internal linkage throughout: see kernels.h.
#ifndef ATTEND_KERNELS_VECTORS_INT_AVX512_H_
#define ATTEND_KERNELS_VECTORS_INT_AVX512_H_

#include "kernels/vectors/int_vec_avx512.h"

namespace attend {
namespace {

struct PairProducts {
  static constexpr bool kPairsSaturate = true;
  static __m512i Add(__m512i sums, __m512i values, __m512i weights) {
    const __m512i pairs = _mm512_maddubs_epi16(values, weights);
    return _mm512_add_epi32(sums, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
  }
};

using IntVec = IntVecOf<PairProducts>;

}  // namespace
}  // namespace attend

#endif  // ATTEND_KERNELS_VECTORS_INT_AVX512_H_
