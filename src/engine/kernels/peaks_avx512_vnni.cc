// Peak loops for AVX-512 with VNNI. Includes nothing of the standard library: see kernels.h.
#include <immintrin.h>

#include "engine/kernels/peaks.h"

namespace attend {
namespace {

constexpr int kSums = 12;  // enough to hide an instruction's latency

int64_t PeakInt8(int64_t rounds, int32_t* numbers) noexcept {
  __m512i x = _mm512_loadu_si512(numbers);
  __m512i sums[kSums];
#pragma GCC unroll 12
  for (int i = 0; i < kSums; ++i) {
    sums[i] = x;
    __asm__("" : "+v"(sums[i]));  // or one sum would do for all, which are equal
  }
  for (int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < kSums; ++i) sums[i] = _mm512_dpbusd_epi32(sums[i], x, x);
  }
#pragma GCC unroll 12
  for (int i = 0; i < kSums; ++i) x = _mm512_add_epi32(x, sums[i]);
  _mm512_storeu_si512(numbers, x);
  return 2 * 64 * kSums * rounds;
}

}  // namespace

PeakLoops Avx512VnniPeaks() noexcept { return {Avx512Peaks().f32, PeakInt8}; }

}  // namespace attend
