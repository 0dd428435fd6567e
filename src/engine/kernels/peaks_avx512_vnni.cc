// Peak loops for AVX-512 with VNNI. Includes nothing of the standard library: see kernels.h.
#include "engine/kernels/peaks.inc"

namespace attend {
namespace {

struct Bytes {
  static constexpr int64_t kProducts = 64;
  __m512i v;
  static Bytes Load(const int32_t* p) { return {_mm512_loadu_si512(p)}; }
  void Store(int32_t* p) const { _mm512_storeu_si512(p, v); }
  Bytes Plus(Bytes b) const { return {_mm512_add_epi32(v, b.v)}; }
  Bytes MultiplyAdd(Bytes x) const { return {_mm512_dpbusd_epi32(v, x.v, x.v)}; }
};

}  // namespace

PeakLoops Avx512VnniPeaks() noexcept { return {Avx512Peaks().f32, PeakLoopOf<Bytes, 12>}; }

}  // namespace attend
