// Peak loops for AVX-512 with VNNI. Includes nothing of the standard library: see kernels.h.
#include <immintrin.h>

#include "engine/kernels/peaks.h"

namespace attend {
namespace {

constexpr int kSums = 24;

int64_t PeakInt8(int64_t rounds, int32_t* numbers) noexcept {
  __m512i x = _mm512_loadu_si512(numbers);
  __m512i sums[kSums];
  for (__m512i& sum : sums) sum = x;
  for (int64_t r = 0; r < rounds; ++r) {
    for (__m512i& sum : sums) sum = _mm512_dpbusd_epi32(sum, x, x);
  }
  for (const __m512i& sum : sums) x = _mm512_add_epi32(x, sum);
  _mm512_storeu_si512(numbers, x);
  return 2 * 64 * kSums * rounds;
}

}  // namespace

PeakLoops Avx512VnniPeaks() noexcept { return {Avx512Peaks().f32, PeakInt8}; }

}  // namespace attend
