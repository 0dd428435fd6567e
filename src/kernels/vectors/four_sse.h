// Four floats in an SSE register: what the lanes of wider vectors fold to, see fold.h. Internal
// linkage throughout: see kernels.h.
#ifndef ATTEND_KERNELS_VECTORS_FOUR_SSE_H_
#define ATTEND_KERNELS_VECTORS_FOUR_SSE_H_

#include <immintrin.h>

namespace attend {
namespace {

using Four = __m128;

inline Four AddFours(Four a, Four b) { return _mm_add_ps(a, b); }
// NaN in b stays.
inline Four MaxFours(Four a, Four b) { return _mm_max_ps(a, b); }

// op(op(x0, x2), op(x1, x3))
template <class Operation>
inline float FoldFour(Four x, Operation op) {
  const Four y = op(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(op(y, _mm_movehdup_ps(y)));
}

// Of each (x0 + x2) + (x1 + x3), times `scale`.
inline void StoreSumsOf(Four a, Four b, Four c, Four d, float scale, float* p) {
  const Four ab = _mm_add_ps(_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b));
  const Four cd = _mm_add_ps(_mm_unpacklo_ps(c, d), _mm_unpackhi_ps(c, d));
  const Four sums = _mm_add_ps(_mm_movelh_ps(ab, cd), _mm_movehl_ps(cd, ab));
  _mm_storeu_ps(p, _mm_mul_ps(sums, _mm_set1_ps(scale)));
}

}  // namespace
}  // namespace attend

#endif  // ATTEND_KERNELS_VECTORS_FOUR_SSE_H_
