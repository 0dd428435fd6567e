// Two vectors as one of twice the width. Internal linkage throughout: see kernels.h.
#ifndef ATTEND_KERNELS_VECTORS_VEC_PAIR_H_
#define ATTEND_KERNELS_VECTORS_VEC_PAIR_H_

#include <stdint.h>

namespace attend {
namespace {

template <class Half>
struct VecPair {
  static constexpr int64_t kHalf = Half::kWidth, kWidth = 2 * kHalf;
  Half low, high;

  static VecPair Set(float x) { return {Half::Set(x), Half::Set(x)}; }
  static VecPair Load(const float* p) { return {Half::Load(p), Half::Load(p + kHalf)}; }
  // The first `count` (at most kWidth) floats; the others are 0 and are not touched.
  static VecPair LoadPart(const float* p, int64_t count) {
    return {Half::LoadPart(p, count), Half::LoadPart(p + kHalf, count - kHalf)};
  }
  void Store(float* p) const { low.Store(p), high.Store(p + kHalf); }
  void StorePart(float* p, int64_t count) const {
    low.StorePart(p, count), high.StorePart(p + kHalf, count - kHalf);
  }
  VecPair KeepPart(int64_t count, const VecPair& other) const {
    return {low.KeepPart(count, other.low), high.KeepPart(count - kHalf, other.high)};
  }

  VecPair operator+(const VecPair& b) const { return {low + b.low, high + b.high}; }
  VecPair operator-(const VecPair& b) const { return {low - b.low, high - b.high}; }
  VecPair operator*(const VecPair& b) const { return {low * b.low, high * b.high}; }
  VecPair operator/(const VecPair& b) const { return {low / b.low, high / b.high}; }
  VecPair MulAdd(const VecPair& b, const VecPair& c) const {
    return {low.MulAdd(b.low, c.low), high.MulAdd(b.high, c.high)};
  }
  static VecPair Max(const VecPair& a, const VecPair& b) {
    return {Half::Max(a.low, b.low), Half::Max(a.high, b.high)};
  }
  static VecPair Min(const VecPair& a, const VecPair& b) {
    return {Half::Min(a.low, b.low), Half::Min(a.high, b.high)};
  }
  VecPair Abs() const { return {low.Abs(), high.Abs()}; }
  VecPair WithSign(const VecPair& sign) const {
    return {low.WithSign(sign.low), high.WithSign(sign.high)};
  }
  VecPair Round() const { return {low.Round(), high.Round()}; }
  VecPair TimesPowerOfTwo(VecPair n) const {
    return {low.TimesPowerOfTwo(n.low), high.TimesPowerOfTwo(n.high)};
  }
  VecPair LargerBits(const VecPair& b) const {
    return {low.LargerBits(b.low), high.LargerBits(b.high)};
  }
  static VecPair FromInt8(const int8_t* p) {
    return {Half::FromInt8(p), Half::FromInt8(p + kHalf)};
  }
  uint32_t Above(const VecPair& b) const { return low.Above(b.low) | high.Above(b.high) << kHalf; }
  template <class Operation>
  auto Fold(Operation op) const {
    return op(low.Fold(op), high.Fold(op));
  }
};

}  // namespace
}  // namespace attend

#endif  // ATTEND_KERNELS_VECTORS_VEC_PAIR_H_
