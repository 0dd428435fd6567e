// Stands before the compiler's own <immintrin.h> for the tests that run the AVX-512 kernels on
// machines without AVX-512: its functions in plain code, from SIMDe and, where SIMDe 0.7.4 has none
// or a wrong one, from here.
#pragma once
#include_next <immintrin.h>

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>

namespace emulated {

struct Lanes {
  float f[16];
  int32_t i[16];
};

inline Lanes Of(__m512 v) {
  Lanes lanes{};
  simde_mm512_storeu_ps(lanes.f, v);
  return lanes;
}

inline Lanes Of(__m512i v) {
  Lanes lanes{};
  simde_mm512_storeu_si512(lanes.i, v);
  return lanes;
}

inline __m512 LoadSome(__mmask16 mask, const float* p) {
  Lanes lanes{};
  for (int i = 0; i < 16; ++i) {
    if ((mask >> i & 1) != 0) lanes.f[i] = p[i];
  }
  return simde_mm512_loadu_ps(lanes.f);
}

inline void StoreSome(float* p, __mmask16 mask, __m512 v) {
  const Lanes lanes = Of(v);
  for (int i = 0; i < 16; ++i) {
    if ((mask >> i & 1) != 0) p[i] = lanes.f[i];
  }
}

inline __m512 ToFloat(__m512i v) {
  Lanes lanes = Of(v);
  for (int i = 0; i < 16; ++i) lanes.f[i] = static_cast<float>(lanes.i[i]);
  return simde_mm512_loadu_ps(lanes.f);
}

inline __m512i ToInt(__m512 v) {
  Lanes lanes = Of(v);
  for (int i = 0; i < 16; ++i) lanes.i[i] = _mm_cvtss_si32(_mm_set_ss(lanes.f[i]));
  return simde_mm512_loadu_si512(lanes.i);
}

inline __m512i Widen(__m128i v) {
  int8_t bytes[16];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes), v);
  Lanes lanes{};
  for (int i = 0; i < 16; ++i) lanes.i[i] = bytes[i];
  return simde_mm512_loadu_si512(lanes.i);
}

inline __m128i NarrowUnsigned(__m512i v) {
  const Lanes lanes = Of(v);
  uint8_t bytes[16];
  for (int i = 0; i < 16; ++i) {
    const uint32_t value = static_cast<uint32_t>(lanes.i[i]);
    bytes[i] = static_cast<uint8_t>(value > 255 ? 255 : value);
  }
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
}

}  // namespace emulated

#undef _mm512_maskz_loadu_ps
#undef _mm512_mask_storeu_ps
#undef _mm512_cvtepi32_ps
#undef _mm512_cvtps_epi32
#undef _mm512_cvtepi8_epi32
#undef _mm512_cvtusepi32_epi8
#undef _mm512_madd_epi16
#define _mm512_maskz_loadu_ps(mask, p) emulated::LoadSome(mask, p)
#define _mm512_mask_storeu_ps(p, mask, v) emulated::StoreSome(p, mask, v)
#define _mm512_cvtepi32_ps(v) emulated::ToFloat(v)
#define _mm512_cvtps_epi32(v) emulated::ToInt(v)
#define _mm512_cvtepi8_epi32(v) emulated::Widen(v)
#define _mm512_cvtusepi32_epi8(v) emulated::NarrowUnsigned(v)
#define _mm512_madd_epi16(a, b) simde_mm512_madd_epi16(a, b)
