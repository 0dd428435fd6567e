// Eight pairs of bf16 in an AVX register, multiplied as floats. Included after Vec. Internal
// linkage throughout: see kernels.h.
#ifndef ATTEND_KERNELS_VECTORS_BF16_VEC_AVX2_H_
#define ATTEND_KERNELS_VECTORS_BF16_VEC_AVX2_H_

#include <immintrin.h>

#include "kernels/vectors/bf16_pair.h"

namespace attend {
namespace {

struct BfVec {
  static constexpr bool kInstructions = false;
  __m256i v;

  static BfVec Load(const Bf16Pair* p) {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))};
  }
  static BfVec Set(const Bf16Pair& x) {
    int bits;
    __builtin_memcpy(&bits, &x, sizeof(bits));
    return {_mm256_set1_epi32(bits)};
  }
  // c + even * even + odd * odd.
  Vec MulAdd(BfVec b, Vec c) const { return Odd().MulAdd(b.Odd(), Even().MulAdd(b.Even(), c)); }
  Vec Even() const { return {_mm256_castsi256_ps(_mm256_slli_epi32(v, 16))}; }
  Vec Odd() const { return {_mm256_castsi256_ps(_mm256_and_si256(v, _mm256_set1_epi32(~0xffff)))}; }
};

}  // namespace
}  // namespace attend

#endif  // ATTEND_KERNELS_VECTORS_BF16_VEC_AVX2_H_
