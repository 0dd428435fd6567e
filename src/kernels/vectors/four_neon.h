// Four floats in a NEON register: what the lanes of wider vectors fold to, see fold.h. Internal
// linkage throughout: see kernels.h.
#ifndef ATTEND_KERNELS_VECTORS_FOUR_NEON_H_
#define ATTEND_KERNELS_VECTORS_FOUR_NEON_H_

#include <arm_neon.h>

namespace attend {
namespace {

using Four = float32x4_t;

inline Four AddFours(Four a, Four b) { return vaddq_f32(a, b); }
// NaN in b stays. Not vmaxq_f32, which keeps NaN in a too and knows which of two zeros is larger.
inline Four MaxFours(Four a, Four b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }

// op(op(x0, x2), op(x1, x3))
template <class Operation>
inline float FoldFour(Four x, Operation op) {
  const Four y = op(x, vextq_f32(x, x, 2));
  return vgetq_lane_f32(op(y, vdupq_laneq_f32(y, 1)), 0);
}

// Of each (x0 + x2) + (x1 + x3), times `scale`.
inline void StoreSumsOf(Four a, Four b, Four c, Four d, float scale, float* p) {
  const Four ab = vaddq_f32(vzip1q_f32(a, b), vzip2q_f32(a, b));
  const Four cd = vaddq_f32(vzip1q_f32(c, d), vzip2q_f32(c, d));
  const Four firsts = vcombine_f32(vget_low_f32(ab), vget_low_f32(cd));
  const Four seconds = vcombine_f32(vget_high_f32(ab), vget_high_f32(cd));
  vst1q_f32(p, vmulq_n_f32(vaddq_f32(firsts, seconds), scale));
}

}  // namespace
}  // namespace attend

#endif  // ATTEND_KERNELS_VECTORS_FOUR_NEON_H_
