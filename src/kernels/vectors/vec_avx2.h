// Eight floats in an AVX register, with AVX2 and FMA. Internal linkage throughout: see kernels.h.
#ifndef ATTEND_KERNELS_VECTORS_VEC_AVX2_H_
#define ATTEND_KERNELS_VECTORS_VEC_AVX2_H_

#include <immintrin.h>
#include <stdint.h>

#include "kernels/vectors/four_sse.h"
#include "kernels/vectors/vec_pair.h"

namespace attend {
namespace {

constexpr int kTileRows = 6;  // 6 x 2 accumulators, 2 weights and a broadcast of 16 registers

struct Vec {
  static constexpr int64_t kWidth = 8;
  __m256 v;

  static Vec Set(float x) { return {_mm256_set1_ps(x)}; }
  static Vec Load(const float* p) { return {_mm256_loadu_ps(p)}; }
  // The first `count` (at most kWidth) floats; the others are 0 and are not touched.
  static Vec LoadPart(const float* p, int64_t count) {
    return {_mm256_maskload_ps(p, Mask(count))};
  }
  void Store(float* p) const { _mm256_storeu_ps(p, v); }
  void StorePart(float* p, int64_t count) const { _mm256_maskstore_ps(p, Mask(count), v); }
  // Keeps the first `count` floats and makes the others `other`.
  Vec KeepPart(int64_t count, Vec other) const {
    return {_mm256_blendv_ps(other.v, v, _mm256_castsi256_ps(Mask(count)))};
  }
  static __m256i Mask(int64_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }

  Vec operator+(Vec b) const { return {_mm256_add_ps(v, b.v)}; }
  Vec operator-(Vec b) const { return {_mm256_sub_ps(v, b.v)}; }
  Vec operator*(Vec b) const { return {_mm256_mul_ps(v, b.v)}; }
  Vec operator/(Vec b) const { return {_mm256_div_ps(v, b.v)}; }
  // this * b + c, rounded once.
  Vec MulAdd(Vec b, Vec c) const { return {_mm256_fmadd_ps(v, b.v, c.v)}; }
  // NaN in b stays.
  static Vec Max(Vec a, Vec b) { return {_mm256_max_ps(a.v, b.v)}; }
  static Vec Min(Vec a, Vec b) { return {_mm256_min_ps(a.v, b.v)}; }
  Vec Abs() const { return {_mm256_andnot_ps(_mm256_set1_ps(-0.0f), v)}; }
  // The sign of `sign` on this, which must not be negative.
  Vec WithSign(Vec sign) const {
    return {_mm256_or_ps(v, _mm256_and_ps(sign.v, _mm256_set1_ps(-0.0f)))};
  }
  Vec Round() const { return {_mm256_round_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)}; }
  // This times 2^n: n is whole, neither this nor the product subnormal, infinite or 0. NaN stays.
  Vec TimesPowerOfTwo(Vec n) const {
    const __m256i more = _mm256_slli_epi32(_mm256_cvtps_epi32(n.v), 23);
    return {_mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(v), more))};
  }
  // By lane the float whose bits are the larger as a whole number; both must have no sign.
  Vec LargerBits(Vec b) const {
    return {
        _mm256_castsi256_ps(_mm256_max_epi32(_mm256_castps_si256(v), _mm256_castps_si256(b.v)))};
  }
  static Vec FromInt8(const int8_t* p) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
    return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes))};
  }
  // A bit for each float above b's.
  uint32_t Above(Vec b) const {
    return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(v, b.v, _CMP_GT_OQ)));
  }
  template <class Operation>
  Four Fold(Operation op) const {
    return op(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  }
};

using Lanes = VecPair<Vec>;  // what sums over a row run over, see kernels.h

}  // namespace
}  // namespace attend

#endif  // ATTEND_KERNELS_VECTORS_VEC_AVX2_H_
