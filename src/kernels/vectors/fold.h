// A vector's lanes folded to one number: Vec::Fold makes a Four of them. Included after a vec_*.h.
// Internal linkage throughout: see kernels.h.
#ifndef ATTEND_KERNELS_VECTORS_FOLD_H_
#define ATTEND_KERNELS_VECTORS_FOLD_H_

#include <stdint.h>

namespace attend {
namespace {

template <class Vec>
inline float SumOf(const Vec& v) {
  return FoldFour(v.Fold(AddFours), AddFours);
}

template <class Vec>
inline float LargestLane(const Vec& v) {
  return FoldFour(v.Fold(MaxFours), MaxFours);
}

// The sums of four vectors, each in SumOf's order, times `scale`.
template <class Vec>
inline void StoreSums(const Vec (&v)[4], float scale, float* p) {
  StoreSumsOf(v[0].Fold(AddFours), v[1].Fold(AddFours), v[2].Fold(AddFours), v[3].Fold(AddFours),
              scale, p);
}

// The sums of four vectors at p, those of the next four at p + step, and so on.
template <class Vec>
inline void StoreSixteenSums(const Vec (&v)[16], float scale, float* p, int64_t step) {
  for (int i = 0; i < 16; i += 4) {
    const Vec four[4] = {v[i], v[i + 1], v[i + 2], v[i + 3]};
    StoreSums(four, scale, p + i / 4 * step);
  }
}

}  // namespace
}  // namespace attend

#endif  // ATTEND_KERNELS_VECTORS_FOLD_H_
