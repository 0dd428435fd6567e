// Peak loops for AVX-512 (F, BW). Includes nothing of the standard library: see kernels.h.
#include <immintrin.h>

#include "engine/kernels/peaks.h"

namespace attend {
namespace {

constexpr int kSums = 12;  // enough to hide an instruction's latency

int64_t PeakF32(int64_t rounds, int32_t* numbers) noexcept {
  __m512 x = _mm512_loadu_ps(numbers);
  __m512 sums[kSums];
#pragma GCC unroll 12
  for (int i = 0; i < kSums; ++i) {
    sums[i] = x;
    __asm__("" : "+v"(sums[i]));  // or one sum would do for all, which are equal
  }
  for (int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < kSums; ++i) sums[i] = _mm512_fmadd_ps(x, x, sums[i]);
  }
#pragma GCC unroll 12
  for (int i = 0; i < kSums; ++i) x = _mm512_add_ps(x, sums[i]);
  _mm512_storeu_ps(numbers, x);
  return 2 * 16 * kSums * rounds;
}

int64_t PeakInt8(int64_t rounds, int32_t* numbers) noexcept {
  __m512i x = _mm512_loadu_si512(numbers);
  const __m512i ones = _mm512_set1_epi16(1);
  __m512i sums[kSums];
#pragma GCC unroll 12
  for (int i = 0; i < kSums; ++i) {
    sums[i] = x;
    __asm__("" : "+v"(sums[i]));  // or one sum would do for all, which are equal
  }
  for (int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < kSums; ++i) {
      __asm__("" : "+v"(x));  // or the products would be made once
      sums[i] = _mm512_add_epi32(sums[i], _mm512_madd_epi16(_mm512_maddubs_epi16(x, x), ones));
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < kSums; ++i) x = _mm512_add_epi32(x, sums[i]);
  _mm512_storeu_si512(numbers, x);
  return 2 * 64 * kSums * rounds;
}

}  // namespace

PeakLoops Avx512Peaks() noexcept { return {PeakF32, PeakInt8}; }

}  // namespace attend
