// Peak loops for AVX2 and FMA. Includes nothing of the standard library: see kernels.h.
#include "engine/kernels/peaks.inc"

namespace attend {
namespace {

struct Floats {
  static constexpr int64_t kProducts = 8;
  __m256 v;
  static Floats Load(const int32_t* p) {
    return {_mm256_loadu_ps(reinterpret_cast<const float*>(p))};
  }
  void Store(int32_t* p) const { _mm256_storeu_ps(reinterpret_cast<float*>(p), v); }
  Floats Plus(Floats b) const { return {_mm256_add_ps(v, b.v)}; }
  Floats MultiplyAdd(Floats x) const { return {_mm256_fmadd_ps(x.v, x.v, v)}; }
};

struct Bytes {
  static constexpr int64_t kProducts = 32;
  __m256i v;
  static Bytes Load(const int32_t* p) {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))};
  }
  void Store(int32_t* p) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
  Bytes Plus(Bytes b) const { return {_mm256_add_epi32(v, b.v)}; }
  Bytes MultiplyAdd(Bytes x) const {
    const __m256i pairs = _mm256_maddubs_epi16(x.v, x.v);
    return {_mm256_add_epi32(v, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))};
  }
};

}  // namespace

PeakLoops Avx2Peaks() noexcept { return {PeakLoopOf<Floats, 12>, PeakLoopOf<Bytes, 6>}; }

}  // namespace attend
