// Sixteen sums of products of int8, widened to 16 bits for vpmaddwd: exact for all values. Internal
// linkage throughout: see kernels.h.
#ifndef ATTEND_ENGINE_KERNELS_INT_AVX512_H_
#define ATTEND_ENGINE_KERNELS_INT_AVX512_H_

#include "engine/kernels/vec_avx512.h"

namespace attend {
namespace {

struct IntVec {
  static constexpr int64_t kGroup = 2;   // inner positions that one lane takes at once
  static constexpr int32_t kOffset = 0;  // added to quantised values
  using Value = int16_t;
  __m512i v;

  static IntVec Start(const int8_t*) { return {_mm512_setzero_si512()}; }
  // kGroup weights of each of sixteen columns.
  static __m512i Weights(const int8_t* p) {
    return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  // The same kGroup values in all lanes.
  static __m512i Broadcast(const Value* p) {
    int32_t pair;
    __builtin_memcpy(&pair, p, sizeof(pair));
    return _mm512_set1_epi32(pair);
  }
  IntVec AddProducts(__m512i values, __m512i weights) const {
    return {_mm512_add_epi32(v, _mm512_madd_epi16(values, weights))};
  }
  Vec ToFloat() const { return {_mm512_cvtepi32_ps(v)}; }
  void Store(int32_t* p) const { _mm512_storeu_si512(p, v); }
  // Rounds to even and writes sixteen values.
  static void StoreRounded(Vec x, Value* p) {
    const __m256i packed = _mm512_cvtsepi32_epi16(_mm512_cvtps_epi32(x.v));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), packed);
  }
};

}  // namespace
}  // namespace attend

#endif  // ATTEND_ENGINE_KERNELS_INT_AVX512_H_
