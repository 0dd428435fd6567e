// Eight sums of products of int8, widened to 16 bits for vpmaddwd: exact for all values. Internal
// linkage throughout: see kernels.h.
#ifndef ATTEND_ENGINE_KERNELS_INT_AVX2_H_
#define ATTEND_ENGINE_KERNELS_INT_AVX2_H_

#include "engine/kernels/vec_avx2.h"

namespace attend {
namespace {

struct IntVec {
  static constexpr int64_t kGroup = 2;   // inner positions that one lane takes at once
  static constexpr int32_t kOffset = 0;  // added to quantised values
  using Value = int16_t;
  __m256i v;

  static IntVec Start(const int8_t*) { return {_mm256_setzero_si256()}; }
  // kGroup weights of each of eight columns.
  static __m256i Weights(const int8_t* p) {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  // The same kGroup values in all lanes.
  static __m256i Broadcast(const Value* p) {
    int32_t pair;
    __builtin_memcpy(&pair, p, sizeof(pair));
    return _mm256_set1_epi32(pair);
  }
  IntVec AddProducts(__m256i values, __m256i weights) const {
    return {_mm256_add_epi32(v, _mm256_madd_epi16(values, weights))};
  }
  Vec ToFloat() const { return {_mm256_cvtepi32_ps(v)}; }
  void Store(int32_t* p) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
  // Rounds to even and writes eight values.
  static void StoreRounded(Vec x, Value* p) {
    const __m256i whole = _mm256_cvtps_epi32(x.v);
    const __m128i packed =
        _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), packed);
  }
};

}  // namespace
}  // namespace attend

#endif  // ATTEND_ENGINE_KERNELS_INT_AVX2_H_
