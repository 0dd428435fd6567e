// A vector's lanes folded to one number: Vec::Fold makes four of them. Internal linkage throughout:
// see kernels.h.
#ifndef ATTEND_KERNELS_VECTORS_FOLD_H_
#define ATTEND_KERNELS_VECTORS_FOLD_H_

#include <immintrin.h>

namespace attend {
namespace {

inline __m128 AddFours(__m128 a, __m128 b) { return _mm_add_ps(a, b); }
inline __m128 MaxFours(__m128 a, __m128 b) { return _mm_max_ps(a, b); }

// Of x = v.Fold(op): op(op(x0, x2), op(x1, x3)).
template <class Vec, class Operation>
inline float FoldLanes(const Vec& v, Operation op) {
  const __m128 x = v.Fold(op), y = op(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(op(y, _mm_movehdup_ps(y)));
}

template <class Vec>
inline float SumOf(const Vec& v) {
  return FoldLanes(v, AddFours);
}

template <class Vec>
inline float LargestLane(const Vec& v) {
  return FoldLanes(v, MaxFours);
}

// The sums of four vectors, each in SumOf's order, times `scale`.
template <class Vec>
inline void StoreSums(const Vec (&v)[4], float scale, float* p) {
  const __m128 a = v[0].Fold(AddFours), b = v[1].Fold(AddFours), c = v[2].Fold(AddFours),
               d = v[3].Fold(AddFours);
  const __m128 ab = _mm_add_ps(_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b));
  const __m128 cd = _mm_add_ps(_mm_unpacklo_ps(c, d), _mm_unpackhi_ps(c, d));
  const __m128 sums = _mm_add_ps(_mm_movelh_ps(ab, cd), _mm_movehl_ps(cd, ab));
  _mm_storeu_ps(p, _mm_mul_ps(sums, _mm_set1_ps(scale)));
}

}  // namespace
}  // namespace attend

#endif  // ATTEND_KERNELS_VECTORS_FOLD_H_
