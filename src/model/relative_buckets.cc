#include "model/relative_buckets.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace attend {

int64_t RelativeBuckets::Of(int64_t distance) const {
  const int64_t first = both_ways_ && distance > 0 ? each_way_ : 0;
  const int64_t apart = both_ways_ ? std::abs(distance) : std::max<int64_t>(-distance, 0);
  if (apart < exact()) return first + apart;
  // In f32, as T5's programs compute it: at the bounds of buckets rounding decides.
  const auto exact_f32 = static_cast<float>(exact());
  const float range = std::log(static_cast<float>(max_distance_) / exact_f32);
  const float share = std::log(static_cast<float>(apart) / exact_f32) / range;
  const auto step = static_cast<int64_t>(share * static_cast<float>(each_way_ - exact()));
  return first + std::min(exact() + step, each_way_ - 1);
}

}  // namespace attend
