// Sixteen floats in an AVX-512 register. Internal linkage throughout: see kernels.h.
#ifndef ATTEND_KERNELS_VECTORS_VEC_AVX512_H_
#define ATTEND_KERNELS_VECTORS_VEC_AVX512_H_

#include <immintrin.h>
#include <stdint.h>

#include "kernels/vectors/four_sse.h"

namespace attend {
namespace {

// 8 x 2 sums hide the latency of products; the addresses of more rows do not fit registers.
constexpr int kTileRows = 8;

struct Vec {
  static constexpr int64_t kWidth = 16;
  __m512 v;

  static Vec Set(float x) { return {_mm512_set1_ps(x)}; }
  static Vec Load(const float* p) { return {_mm512_loadu_ps(p)}; }
  // The first `count` (1 to kWidth) floats; the others are 0 and are not touched.
  static Vec LoadPart(const float* p, int64_t count) {
    return {_mm512_maskz_loadu_ps(Mask(count), p)};
  }
  void Store(float* p) const { _mm512_storeu_ps(p, v); }
  void StorePart(float* p, int64_t count) const { _mm512_mask_storeu_ps(p, Mask(count), v); }
  // Keeps the first `count` floats and makes the others `other`.
  Vec KeepPart(int64_t count, Vec other) const {
    return {_mm512_mask_blend_ps(Mask(count), other.v, v)};
  }
  static __mmask16 Mask(int64_t count) { return static_cast<__mmask16>((1u << count) - 1); }

  Vec operator+(Vec b) const { return {_mm512_add_ps(v, b.v)}; }
  Vec operator-(Vec b) const { return {_mm512_sub_ps(v, b.v)}; }
  Vec operator*(Vec b) const { return {_mm512_mul_ps(v, b.v)}; }
  Vec operator/(Vec b) const { return {_mm512_div_ps(v, b.v)}; }
  // this * b + c, rounded once.
  Vec MulAdd(Vec b, Vec c) const { return {_mm512_fmadd_ps(v, b.v, c.v)}; }
  // NaN in b stays.
  static Vec Max(Vec a, Vec b) { return {_mm512_max_ps(a.v, b.v)}; }
  static Vec Min(Vec a, Vec b) { return {_mm512_min_ps(a.v, b.v)}; }
  Vec Abs() const { return {_mm512_abs_ps(v)}; }
  // The sign of `sign` on this, which must not be negative.
  Vec WithSign(Vec sign) const {
    return {_mm512_or_ps(v, _mm512_and_ps(sign.v, _mm512_set1_ps(-0.0f)))};
  }
  Vec Round() const {
    return {_mm512_roundscale_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
  }
  // This times 2^n: n is whole, neither this nor the product subnormal, infinite or 0. NaN stays.
  Vec TimesPowerOfTwo(Vec n) const {
    const __m512i more = _mm512_slli_epi32(_mm512_cvtps_epi32(n.v), 23);
    return {_mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(v), more))};
  }
  // By lane the float whose bits are the larger as a whole number; both must have no sign.
  Vec LargerBits(Vec b) const {
    return {
        _mm512_castsi512_ps(_mm512_max_epi32(_mm512_castps_si512(v), _mm512_castps_si512(b.v)))};
  }
  static Vec FromInt8(const int8_t* p) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return {_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes))};
  }
  // A bit for each float above b's.
  uint32_t Above(Vec b) const { return _mm512_cmp_ps_mask(v, b.v, _CMP_GT_OQ); }
  template <class Operation>
  Four Fold(Operation op) const {
    return op(op(_mm512_extractf32x4_ps(v, 0), _mm512_extractf32x4_ps(v, 1)),
              op(_mm512_extractf32x4_ps(v, 2), _mm512_extractf32x4_ps(v, 3)));
  }
};

using Lanes = Vec;  // what sums over a row run over, see kernels.h

}  // namespace
}  // namespace attend

#endif  // ATTEND_KERNELS_VECTORS_VEC_AVX512_H_
