// Peak loops for AVX2 and FMA. Includes nothing of the standard library: see kernels.h.
#include <immintrin.h>

#include "engine/kernels/peaks.h"

namespace attend {
namespace {

constexpr int kSums = 12;  // enough to hide an instruction's latency, and they fit the registers

int64_t PeakF32(int64_t rounds, int32_t* numbers) noexcept {
  __m256 x = _mm256_loadu_ps(reinterpret_cast<const float*>(numbers));
  __m256 sums[kSums];
  for (__m256& sum : sums) sum = x;
  for (int64_t r = 0; r < rounds; ++r) {
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(x, x, sum);
  }
  for (const __m256& sum : sums) x = _mm256_add_ps(x, sum);
  _mm256_storeu_ps(reinterpret_cast<float*>(numbers), x);
  return 2 * 8 * kSums * rounds;
}

int64_t PeakInt8(int64_t rounds, int32_t* numbers) noexcept {
  __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(numbers));
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i sums[kSums];
  for (__m256i& sum : sums) sum = x;
  for (int64_t r = 0; r < rounds; ++r) {
    for (__m256i& sum : sums) {
      __asm__("" : "+x"(x));  // or the products would be made once
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(x, x), ones));
    }
  }
  for (const __m256i& sum : sums) x = _mm256_add_epi32(x, sum);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(numbers), x);
  return 2 * 32 * kSums * rounds;
}

}  // namespace

PeakLoops Avx2Peaks() noexcept { return {PeakF32, PeakInt8}; }

}  // namespace attend
