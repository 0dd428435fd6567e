// The random numbers of NumPy's default_rng(seed): PCG XSL RR 128/64 (O'Neill 2014), seeded by a
// SeedSequence. For results that must equal those of Python programs; all else uses base/random.h.
#ifndef ATTEND_METRICS_PCG64_H_
#define ATTEND_METRICS_PCG64_H_

#include <cstdint>

namespace attend {

// One owner; not thread-safe.
class Pcg64 {
 public:
  explicit Pcg64(uint64_t seed);
  // Uniform in [0, bound), drawn as Generator.integers(0, bound) and so Generator.choice(bound).
  // Precondition: 0 < bound < 2^32.
  uint32_t Below(uint32_t bound);

 private:
  __extension__ using Uint128 = unsigned __int128;
  uint64_t Next64();
  uint32_t Next32();  // the lower half of a number, then its upper half

  Uint128 state_ = 0;
  Uint128 increment_ = 0;
  bool has_half_ = false;
  uint32_t half_ = 0;
};

}  // namespace attend

#endif  // ATTEND_METRICS_PCG64_H_
