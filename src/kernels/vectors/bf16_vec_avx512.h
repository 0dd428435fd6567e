// Sixteen pairs of bf16 in an AVX-512 register, multiplied as floats. Included after Vec. Internal
// linkage throughout: see kernels.h.
#ifndef ATTEND_KERNELS_VECTORS_BF16_VEC_AVX512_H_
#define ATTEND_KERNELS_VECTORS_BF16_VEC_AVX512_H_

#include <immintrin.h>

#include "kernels/vectors/bf16_pair.h"

namespace attend {
namespace {

struct BfVec {
  static constexpr bool kInstructions = false;
  __m512i v;

  static BfVec Load(const Bf16Pair* p) { return {_mm512_loadu_si512(p)}; }
  static BfVec Set(const Bf16Pair& x) {
    int bits;
    __builtin_memcpy(&bits, &x, sizeof(bits));
    return {_mm512_set1_epi32(bits)};
  }
  // c + even * even + odd * odd.
  Vec MulAdd(BfVec b, Vec c) const { return Odd().MulAdd(b.Odd(), Even().MulAdd(b.Even(), c)); }
  Vec Even() const { return {_mm512_castsi512_ps(_mm512_slli_epi32(v, 16))}; }
  Vec Odd() const { return {_mm512_castsi512_ps(_mm512_and_si512(v, _mm512_set1_epi32(~0xffff)))}; }
};

}  // namespace
}  // namespace attend

#endif  // ATTEND_KERNELS_VECTORS_BF16_VEC_AVX512_H_
