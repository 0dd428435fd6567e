// A share in percent.
#ifndef ATTEND_METRICS_PERCENT_H_
#define ATTEND_METRICS_PERCENT_H_

#include <cstdint>

namespace attend {

// 0 of nothing.
inline double Percent(int64_t part, int64_t whole) {
  return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

}  // namespace attend

#endif  // ATTEND_METRICS_PERCENT_H_
