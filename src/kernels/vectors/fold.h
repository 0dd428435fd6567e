// A vector's lanes folded to one number: Vec::Fold makes a Four of them. Included after a vec_*.h.
// Internal linkage throughout: see kernels.h.
#ifndef ATTEND_KERNELS_VECTORS_FOLD_H_
#define ATTEND_KERNELS_VECTORS_FOLD_H_

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

}  // namespace
}  // namespace attend

#endif  // ATTEND_KERNELS_VECTORS_FOLD_H_
