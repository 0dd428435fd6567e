// T5's buckets of relative positions (Raffel et al. 2020, section 2.1).
#ifndef ATTEND_MODEL_RELATIVE_BUCKETS_H_
#define ATTEND_MODEL_RELATIVE_BUCKETS_H_

#include <cstdint>

#include "attend/model_config.h"

namespace attend {

// How a stack's relative positions fall into buckets. Of an encoder the second half of the buckets
// is for keys after the query; a decoder sees none.
class RelativeBuckets {
 public:
  RelativeBuckets(const StackConfig& config, bool both_ways)
      : each_way_(both_ways ? config.relative_buckets / 2 : config.relative_buckets),
        max_distance_(config.relative_max_distance),
        both_ways_(both_ways) {}

  // Distances below it have a bucket each; the others share the rest by their logarithms.
  int64_t exact() const { return each_way_ / 2; }
  // The bucket of a key that stands `distance` after its query. Precondition: exact() is from 1 to
  // less than the largest distance.
  int64_t Of(int64_t distance) const;

 private:
  int64_t each_way_, max_distance_;
  bool both_ways_;
};

}  // namespace attend

#endif  // ATTEND_MODEL_RELATIVE_BUCKETS_H_
