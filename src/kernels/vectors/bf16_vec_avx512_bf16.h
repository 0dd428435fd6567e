// Sixteen pairs of bf16 in an AVX-512 register, multiplied by the instructions for them, which take
// and make 0 of what is below the smallest normal float. Included after Vec. Internal linkage
// throughout: see kernels.h.
#ifndef ATTEND_KERNELS_VECTORS_BF16_VEC_AVX512_BF16_H_
#define ATTEND_KERNELS_VECTORS_BF16_VEC_AVX512_BF16_H_

#include <immintrin.h>

#include "kernels/vectors/bf16_pair.h"

namespace attend {
namespace {

struct BfVec {
  static constexpr bool kInstructions = true;
  __m512i v;

  static BfVec Load(const Bf16Pair* p) { return {_mm512_loadu_si512(p)}; }
  static BfVec Set(const Bf16Pair& x) {
    int bits;
    __builtin_memcpy(&bits, &x, sizeof(bits));
    return {_mm512_set1_epi32(bits)};
  }
  // c + odd * odd + even * even.
  Vec MulAdd(BfVec b, Vec c) const { return {_mm512_dpbf16_ps(c.v, (__m512bh)v, (__m512bh)b.v)}; }
};

}  // namespace
}  // namespace attend

#endif  // ATTEND_KERNELS_VECTORS_BF16_VEC_AVX512_BF16_H_
