// Numbers in bf16, as kernels multiply them. See kernels.h.
#ifndef ATTEND_KERNELS_VECTORS_BF16_PAIR_H_
#define ATTEND_KERNELS_VECTORS_BF16_PAIR_H_

#include <stdint.h>

namespace attend {

// Two that are neighbours along a product's inner dimension.
struct Bf16Pair {
  uint16_t even, odd;
};

}  // namespace attend

#endif  // ATTEND_KERNELS_VECTORS_BF16_PAIR_H_
