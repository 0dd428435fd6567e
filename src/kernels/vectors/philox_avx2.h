// Four 64-bit lanes that each carry one 32-bit word of a counter-based generator, with AVX2.
// Internal linkage throughout: see kernels.h.
#ifndef ATTEND_KERNELS_VECTORS_PHILOX_AVX2_H_
#define ATTEND_KERNELS_VECTORS_PHILOX_AVX2_H_

#include <immintrin.h>
#include <stdint.h>

namespace attend {
namespace {

// The low half of a lane is the word; the high half may hold anything.
struct WordLanes {
  static constexpr int kCount = 8;
  __m256i even, odd;  // words 0 1 4 5 and 2 3 6 7: the order in which StoreKept has them in line

  static WordLanes Set(uint32_t word) {
    return {_mm256_set1_epi64x(word), _mm256_set1_epi64x(word)};
  }
  // first, first + 1, ...
  static WordLanes CountFrom(uint32_t first) {
    const __m256i start = _mm256_set1_epi64x(first);
    return {_mm256_add_epi32(start, _mm256_setr_epi64x(0, 1, 4, 5)),
            _mm256_add_epi32(start, _mm256_setr_epi64x(2, 3, 6, 7))};
  }
  // The 64-bit product: its low half is the next word.
  WordLanes Times(WordLanes b) const {
    return {_mm256_mul_epu32(even, b.even), _mm256_mul_epu32(odd, b.odd)};
  }
  WordLanes HighHalf() const { return {_mm256_srli_epi64(even, 32), _mm256_srli_epi64(odd, 32)}; }
  WordLanes operator^(WordLanes b) const {
    return {_mm256_xor_si256(even, b.even), _mm256_xor_si256(odd, b.odd)};
  }
  // kept[i] = scale where the low (high) 16 bits of word i, as a signed number above 16 zeros, are
  // at least `threshold`, else 0.
  void StoreKept(int32_t threshold, float scale, float* low, float* high) const {
    const __m256i words = _mm256_castps_si256(
        _mm256_shuffle_ps(_mm256_castsi256_ps(even), _mm256_castsi256_ps(odd), 0x88));
    const __m256i below = _mm256_set1_epi32(threshold);
    const __m256i scales = _mm256_castps_si256(_mm256_set1_ps(scale));
    const __m256i upper = _mm256_and_si256(words, _mm256_set1_epi32(-65536));
    const __m256i lower = _mm256_slli_epi32(words, 16);
    _mm256_storeu_ps(
        low, _mm256_castsi256_ps(_mm256_andnot_si256(_mm256_cmpgt_epi32(below, lower), scales)));
    _mm256_storeu_ps(
        high, _mm256_castsi256_ps(_mm256_andnot_si256(_mm256_cmpgt_epi32(below, upper), scales)));
  }
};

}  // namespace
}  // namespace attend

#endif  // ATTEND_KERNELS_VECTORS_PHILOX_AVX2_H_
