// Eight floats in two NEON registers. Internal linkage throughout: see kernels.h.
#ifndef ATTEND_KERNELS_VECTORS_VEC_NEON_H_
#define ATTEND_KERNELS_VECTORS_VEC_NEON_H_

#include <arm_neon.h>
#include <stdint.h>

#include "kernels/vectors/four_neon.h"
#include "kernels/vectors/vec_pair.h"

namespace attend {
namespace {

constexpr int kTileRows = 6;  // 6 x 4 accumulators, 4 weights and a broadcast of 32 registers

struct Quad {
  static constexpr int64_t kWidth = 4;
  float32x4_t v;

  static Quad Set(float x) { return {vdupq_n_f32(x)}; }
  static Quad Load(const float* p) { return {vld1q_f32(p)}; }
  // The first `count` floats, none to all; the others are 0 and are not touched.
  static Quad LoadPart(const float* p, int64_t count) {
    if (count >= kWidth) return Load(p);
    const float32x2_t none = vdup_n_f32(0.0f);
    if (count <= 0) return {vcombine_f32(none, none)};
    if (count == 1) return {vcombine_f32(vld1_lane_f32(p, none, 0), none)};
    return {vcombine_f32(vld1_f32(p), count == 3 ? vld1_lane_f32(p + 2, none, 0) : none)};
  }
  void Store(float* p) const { vst1q_f32(p, v); }
  void StorePart(float* p, int64_t count) const {
    if (count >= kWidth) return Store(p);
    if (count >= 2) vst1_f32(p, vget_low_f32(v));
    if (count == 1) vst1q_lane_f32(p, v, 0);
    if (count == 3) vst1q_lane_f32(p + 2, v, 2);
  }
  // Keeps the first `count` floats and makes the others `other`.
  Quad KeepPart(int64_t count, Quad other) const {
    static const int32_t kOrder[kWidth] = {0, 1, 2, 3};
    const int32x4_t limit = vdupq_n_s32(static_cast<int32_t>(count));
    return {vbslq_f32(vcltq_s32(vld1q_s32(kOrder), limit), v, other.v)};
  }

  Quad operator+(Quad b) const { return {vaddq_f32(v, b.v)}; }
  Quad operator-(Quad b) const { return {vsubq_f32(v, b.v)}; }
  Quad operator*(Quad b) const { return {vmulq_f32(v, b.v)}; }
  Quad operator/(Quad b) const { return {vdivq_f32(v, b.v)}; }
  // this * b + c, rounded once.
  Quad MulAdd(Quad b, Quad c) const { return {vfmaq_f32(c.v, v, b.v)}; }
  // NaN in b stays.
  static Quad Max(Quad a, Quad b) { return {MaxFours(a.v, b.v)}; }
  static Quad Min(Quad a, Quad b) { return {vbslq_f32(vcltq_f32(a.v, b.v), a.v, b.v)}; }
  Quad Abs() const { return {vabsq_f32(v)}; }
  // The sign of `sign` on this, which must not be negative.
  Quad WithSign(Quad sign) const { return {vbslq_f32(vdupq_n_u32(0x80000000u), sign.v, v)}; }
  Quad Round() const { return {vrndnq_f32(v)}; }
  // This times 2^n: n is whole, neither this nor the product subnormal, infinite or 0. NaN stays.
  Quad TimesPowerOfTwo(Quad n) const {
    const int32x4_t more = vshlq_n_s32(vcvtnq_s32_f32(n.v), 23);
    return {vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(v), more))};
  }
  // By lane the float whose bits are the larger as a whole number; both must have no sign.
  Quad LargerBits(Quad b) const {
    return {vreinterpretq_f32_s32(vmaxq_s32(vreinterpretq_s32_f32(v), vreinterpretq_s32_f32(b.v)))};
  }
  static Quad FromInt8(const int8_t* p) {
    int32_t four;
    __builtin_memcpy(&four, p, sizeof(four));
    const int16x8_t words = vmovl_s8(vreinterpret_s8_s32(vdup_n_s32(four)));
    return {vcvtq_f32_s32(vmovl_s16(vget_low_s16(words)))};
  }
  // A bit for each float above b's.
  uint32_t Above(Quad b) const {
    static const uint32_t kBits[kWidth] = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(vcgtq_f32(v, b.v), vld1q_u32(kBits)));
  }
  template <class Operation>
  Four Fold(Operation) const {
    return v;
  }
};

using Vec = VecPair<Quad>;
using Lanes = VecPair<Vec>;  // what sums over a row run over, see kernels.h

}  // namespace
}  // namespace attend

#endif  // ATTEND_KERNELS_VECTORS_VEC_NEON_H_
