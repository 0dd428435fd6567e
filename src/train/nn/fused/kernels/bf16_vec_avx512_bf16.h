// Sixteen pairs of bf16 in an AVX-512 register, multiplied by the instructions for them, which take
// and make 0 of what is below the smallest normal float. Included after Vec. Internal linkage
// throughout: see engine/kernels/kernels.h.
#ifndef ATTEND_TRAIN_NN_FUSED_KERNELS_BF16_VEC_AVX512_BF16_H_
#define ATTEND_TRAIN_NN_FUSED_KERNELS_BF16_VEC_AVX512_BF16_H_

#include <immintrin.h>

#include "train/nn/fused/kernels/train_kernels.h"

namespace attend::nn {
namespace {

struct BfVec {
  __m512i v;

  static BfVec Load(const Bf16Pair* p) { return {_mm512_loadu_si512(p)}; }
  static BfVec Set(const Bf16Pair& x) {
    int bits;
    __builtin_memcpy(&bits, &x, sizeof(bits));
    return {_mm512_set1_epi32(bits)};
  }
  // c + even * even + odd * odd.
  Vec MulAdd(BfVec b, Vec c) const { return {_mm512_dpbf16_ps(c.v, (__m512bh)v, (__m512bh)b.v)}; }
};

}  // namespace
}  // namespace attend::nn

#endif  // ATTEND_TRAIN_NN_FUSED_KERNELS_BF16_VEC_AVX512_BF16_H_
