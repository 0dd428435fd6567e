// What is left of a vector folded to four floats, folded on. Internal linkage throughout: see
// kernels.h.
#ifndef ATTEND_ENGINE_KERNELS_FOLD_H_
#define ATTEND_ENGINE_KERNELS_FOLD_H_

#include <immintrin.h>

namespace attend {
namespace {

inline __m128 AddFours(__m128 a, __m128 b) { return _mm_add_ps(a, b); }
inline __m128 MaxFours(__m128 a, __m128 b) { return _mm_max_ps(a, b); }

// op(op(x0, x2), op(x1, x3))
template <class Operation>
inline float FoldFour(__m128 x, Operation op) {
  const __m128 y = op(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(op(y, _mm_movehdup_ps(y)));
}

// The sums of four at once, in FoldFour's order.
inline __m128 SumsOfFour(__m128 a, __m128 b, __m128 c, __m128 d) {
  const __m128 ab = _mm_add_ps(_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b));
  const __m128 cd = _mm_add_ps(_mm_unpacklo_ps(c, d), _mm_unpackhi_ps(c, d));
  return _mm_add_ps(_mm_movelh_ps(ab, cd), _mm_movehl_ps(cd, ab));
}

}  // namespace
}  // namespace attend

#endif  // ATTEND_ENGINE_KERNELS_FOLD_H_
