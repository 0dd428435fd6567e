// Sixteen sums of products of int8, which `Products` adds. Internal linkage throughout: see
// kernels.h.
#ifndef ATTEND_KERNELS_VECTORS_INT_VEC_AVX512_H_
#define ATTEND_KERNELS_VECTORS_INT_VEC_AVX512_H_

#include "kernels/vectors/vec_avx512.h"

namespace attend {
namespace {

template <class Products>
struct IntVecOf {
  static constexpr uint8_t kOffset = 128;  // of values, which are unsigned
  static constexpr bool kPairsSaturate = Products::kPairsSaturate;
  __m512i v;

  static IntVecOf Start(const int8_t* p) { return {_mm512_loadu_si512(p)}; }
  // Four weights of each of sixteen columns.
  static __m512i Weights(const int8_t* p) { return _mm512_loadu_si512(p); }
  // The same four values in all lanes.
  static __m512i Broadcast(uint32_t four) { return _mm512_set1_epi32(static_cast<int32_t>(four)); }
  IntVecOf AddProducts(__m512i values, __m512i weights) const {
    return {Products::Add(v, values, weights)};
  }
  // Whether the magnitudes of two neighbouring weights come to more than 128.
  static bool HasWidePair(__m512i weights) {
    const __m512i pairs = _mm512_maddubs_epi16(_mm512_abs_epi8(weights), _mm512_set1_epi8(1));
    return _mm512_cmpge_epi16_mask(pairs, _mm512_set1_epi16(129)) != 0;
  }
  Vec ToFloat() const { return {_mm512_cvtepi32_ps(v)}; }
  void Store(int32_t* p) const { _mm512_storeu_si512(p, v); }
  // Rounds sixteen numbers to even and writes them kOffset too high.
  static void StoreRounded(Vec x, uint8_t* p) {
    const __m512i whole = _mm512_add_epi32(_mm512_cvtps_epi32(x.v), _mm512_set1_epi32(kOffset));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtusepi32_epi8(whole));
  }
};

}  // namespace
}  // namespace attend

#endif  // ATTEND_KERNELS_VECTORS_INT_VEC_AVX512_H_
