// Peak loops for AVX2 and FMA. Includes nothing of the standard library: see kernels.h.
#include <immintrin.h>

#include "engine/kernels/peaks.h"

namespace attend {
namespace {

constexpr int kSums = 12;     // enough to hide an instruction's latency, and they fit the registers
constexpr int kInt8Sums = 6;  // additions take one cycle, and the products need registers

int64_t PeakF32(int64_t rounds, int32_t* numbers) noexcept {
  __m256 x = _mm256_loadu_ps(reinterpret_cast<const float*>(numbers));
  __m256 sums[kSums];
#pragma GCC unroll 12
  for (int i = 0; i < kSums; ++i) {
    sums[i] = x;
    __asm__("" : "+x"(sums[i]));  // or one sum would do for all, which are equal
  }
  for (int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < kSums; ++i) sums[i] = _mm256_fmadd_ps(x, x, sums[i]);
  }
#pragma GCC unroll 12
  for (int i = 0; i < kSums; ++i) x = _mm256_add_ps(x, sums[i]);
  _mm256_storeu_ps(reinterpret_cast<float*>(numbers), x);
  return 2 * 8 * kSums * rounds;
}

int64_t PeakInt8(int64_t rounds, int32_t* numbers) noexcept {
  __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(numbers));
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i sums[kInt8Sums];
#pragma GCC unroll 6
  for (int i = 0; i < kInt8Sums; ++i) {
    sums[i] = x;
    __asm__("" : "+x"(sums[i]));  // or one sum would do for all, which are equal
  }
  for (int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 6
    for (int i = 0; i < kInt8Sums; ++i) {
      __asm__("" : "+x"(x));  // or the products would be made once
      sums[i] = _mm256_add_epi32(sums[i], _mm256_madd_epi16(_mm256_maddubs_epi16(x, x), ones));
    }
  }
#pragma GCC unroll 6
  for (int i = 0; i < kInt8Sums; ++i) x = _mm256_add_epi32(x, sums[i]);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(numbers), x);
  return 2 * 32 * kInt8Sums * rounds;
}

}  // namespace

PeakLoops Avx2Peaks() noexcept { return {PeakF32, PeakInt8}; }

}  // namespace attend
