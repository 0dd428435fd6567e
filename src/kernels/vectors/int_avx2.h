// Eight sums of products of int8 by vpmaddubsw, which adds pairs of unsigned times signed in 16
// bits and saturates. Internal linkage throughout: see kernels.h.
#ifndef ATTEND_KERNELS_VECTORS_INT_AVX2_H_
#define ATTEND_KERNELS_VECTORS_INT_AVX2_H_

#include "kernels/vectors/vec_avx2.h"

namespace attend {
namespace {

struct IntVec {
  static constexpr uint8_t kOffset = 128;  // of values, which are unsigned
  static constexpr bool kPairsSaturate = true;
  __m256i v;

  static IntVec Start(const int8_t* p) {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))};
  }
  // Four weights of each of eight columns.
  static __m256i Weights(const int8_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  // The same four values in all lanes.
  static __m256i Broadcast(uint32_t four) { return _mm256_set1_epi32(static_cast<int32_t>(four)); }
  IntVec AddProducts(__m256i values, __m256i weights) const {
    const __m256i pairs = _mm256_maddubs_epi16(values, weights);
    return {_mm256_add_epi32(v, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))};
  }
  // Whether the magnitudes of two neighbouring weights come to more than 128.
  static bool HasWidePair(__m256i weights) {
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(weights), _mm256_set1_epi8(1));
    return _mm256_movemask_epi8(_mm256_cmpgt_epi16(pairs, _mm256_set1_epi16(128))) != 0;
  }
  Vec ToFloat() const { return {_mm256_cvtepi32_ps(v)}; }
  void Store(int32_t* p) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
  // Rounds eight numbers to even and writes them kOffset too high.
  static void StoreRounded(Vec x, uint8_t* p) {
    const __m256i whole = _mm256_add_epi32(_mm256_cvtps_epi32(x.v), _mm256_set1_epi32(kOffset));
    const __m128i words =
        _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packus_epi16(words, words));
  }
};

}  // namespace
}  // namespace attend

#endif  // ATTEND_KERNELS_VECTORS_INT_AVX2_H_
