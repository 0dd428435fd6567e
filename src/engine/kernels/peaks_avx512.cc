// Peak loops for AVX-512 (F, BW). Includes nothing of the standard library: see kernels.h.
#include <immintrin.h>

#include "engine/kernels/peaks.h"

namespace attend {
namespace {

constexpr int kSums = 24;

int64_t PeakF32(int64_t rounds, int32_t* numbers) noexcept {
  __m512 x = _mm512_loadu_ps(numbers);
  __m512 sums[kSums];
  for (__m512& sum : sums) sum = x;
  for (int64_t r = 0; r < rounds; ++r) {
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(x, x, sum);
  }
  for (const __m512& sum : sums) x = _mm512_add_ps(x, sum);
  _mm512_storeu_ps(numbers, x);
  return 2 * 16 * kSums * rounds;
}

int64_t PeakInt8(int64_t rounds, int32_t* numbers) noexcept {
  __m512i x = _mm512_loadu_si512(numbers);
  const __m512i ones = _mm512_set1_epi16(1);
  __m512i sums[kSums];
  for (__m512i& sum : sums) sum = x;
  for (int64_t r = 0; r < rounds; ++r) {
    for (__m512i& sum : sums) {
      __asm__("" : "+v"(x));  // or the products would be made once
      sum = _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_maddubs_epi16(x, x), ones));
    }
  }
  for (const __m512i& sum : sums) x = _mm512_add_epi32(x, sum);
  _mm512_storeu_si512(numbers, x);
  return 2 * 64 * kSums * rounds;
}

}  // namespace

PeakLoops Avx512Peaks() noexcept { return {PeakF32, PeakInt8}; }

}  // namespace attend
