#include "kernels/peaks/peaks.h"

#include <string_view>

namespace attend {
namespace {

constexpr int64_t kInner = 16, kSums = 16;

// A product of one row over weights in the first cache, as a compiler makes it.
template <class Number, class Sum>
int64_t Product(int64_t rounds, int32_t* numbers) noexcept {
  Number x[kInner], w[kInner][kSums];
  Sum sums[kSums] = {};
  for (int64_t k = 0; k < kInner; ++k) {
    x[k] = static_cast<Number>(numbers[k]);
    for (int64_t c = 0; c < kSums; ++c) w[k][c] = static_cast<Number>(numbers[k + c]);
  }
  for (int64_t r = 0; r < rounds; ++r) {
    __asm__ volatile("" : : "r"(x), "r"(w) : "memory");
    for (int64_t k = 0; k < kInner; ++k) {
      for (int64_t c = 0; c < kSums; ++c) {
        sums[c] += static_cast<Sum>(x[k]) * static_cast<Sum>(w[k][c]);
      }
    }
  }
  for (int64_t c = 0; c < kSums; ++c) numbers[c] += static_cast<int32_t>(sums[c]);
  return 2 * rounds * kInner * kSums;
}

}  // namespace

PeakLoops ReferencePeaks() noexcept { return {Product<float, float>, Product<int8_t, int32_t>}; }

PeakLoops PeaksOf(const char* name) noexcept {
  const std::string_view set = name;
#if defined(__x86_64__)
  if (set == "avx2") return Avx2Peaks();
  if (set == "avx512") return Avx512Peaks();
  if (set == "avx512_vnni") return Avx512VnniPeaks();
  if (set == "avx512_amx") return Avx512AmxPeaks();
#elif defined(__aarch64__)
  if (set == "neon") return NeonPeaks();
  if (set == "neon_dot") return NeonDotPeaks();
#endif
  return ReferencePeaks();
}

}  // namespace attend
