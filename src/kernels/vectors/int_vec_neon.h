// Eight sums of products of int8 in two NEON registers, which `Products` adds. Internal linkage
// throughout: see kernels.h.
#ifndef ATTEND_KERNELS_VECTORS_INT_VEC_NEON_H_
#define ATTEND_KERNELS_VECTORS_INT_VEC_NEON_H_

#include "kernels/vectors/vec_neon.h"

namespace attend {
namespace {

template <class Products>
struct IntVecOf {
  static constexpr bool kPairsSaturate = false;
  static constexpr uint8_t kOffset = 0;  // both factors are signed
  int32x4_t low, high;

  static IntVecOf Start(const int8_t* p) {
    const int8x16x2_t bytes = Weights(p);
    return {vreinterpretq_s32_s8(bytes.val[0]), vreinterpretq_s32_s8(bytes.val[1])};
  }
  // Four weights of each of eight columns.
  static int8x16x2_t Weights(const int8_t* p) { return {{vld1q_s8(p), vld1q_s8(p + 16)}}; }
  // The same four values in all lanes.
  static int8x16_t Broadcast(uint32_t four) { return vreinterpretq_s8_u32(vdupq_n_u32(four)); }
  IntVecOf AddProducts(int8x16_t values, const int8x16x2_t& weights) const {
    return {Products::Add(low, values, weights.val[0]),
            Products::Add(high, values, weights.val[1])};
  }
  Vec ToFloat() const { return {{vcvtq_f32_s32(low)}, {vcvtq_f32_s32(high)}}; }
  void Store(int32_t* p) const { vst1q_s32(p, low), vst1q_s32(p + 4, high); }
  // Rounds eight numbers to even.
  static void StoreRounded(const Vec& x, uint8_t* p) {
    const int16x8_t words =
        vcombine_s16(vqmovn_s32(vcvtnq_s32_f32(x.low.v)), vqmovn_s32(vcvtnq_s32_f32(x.high.v)));
    vst1_u8(p, vreinterpret_u8_s8(vqmovn_s16(words)));
  }
};

}  // namespace
}  // namespace attend

#endif  // ATTEND_KERNELS_VECTORS_INT_VEC_NEON_H_
