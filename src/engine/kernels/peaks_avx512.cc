// Peak loops for AVX-512 (F, BW). Includes nothing of the standard library: see kernels.h.
#include "engine/kernels/peaks.inc"

namespace attend {
namespace {

struct Floats {
  static constexpr int64_t kProducts = 16;
  __m512 v;
  static Floats Load(const int32_t* p) { return {_mm512_loadu_ps(p)}; }
  void Store(int32_t* p) const { _mm512_storeu_ps(p, v); }
  Floats Plus(Floats b) const { return {_mm512_add_ps(v, b.v)}; }
  Floats MultiplyAdd(Floats x) const { return {_mm512_fmadd_ps(x.v, x.v, v)}; }
};

struct Bytes {
  static constexpr int64_t kProducts = 64;
  __m512i v;
  static Bytes Load(const int32_t* p) { return {_mm512_loadu_si512(p)}; }
  void Store(int32_t* p) const { _mm512_storeu_si512(p, v); }
  Bytes Plus(Bytes b) const { return {_mm512_add_epi32(v, b.v)}; }
  Bytes MultiplyAdd(Bytes x) const {
    const __m512i pairs = _mm512_maddubs_epi16(x.v, x.v);
    return {_mm512_add_epi32(v, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)))};
  }
};

}  // namespace

PeakLoops Avx512Peaks() noexcept { return {PeakLoopOf<Floats, 12>, PeakLoopOf<Bytes, 12>}; }

}  // namespace attend
