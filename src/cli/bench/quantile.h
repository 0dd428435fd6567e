// Quantiles of measurements.
#ifndef ATTEND_CLI_BENCH_QUANTILE_H_
#define ATTEND_CLI_BENCH_QUANTILE_H_

#include <algorithm>
#include <cmath>
#include <vector>

namespace attend {

// The nearest-rank quantile: the smallest of the values (rising, at least one) that `part` of them,
// above 0 and at most 1, do not exceed.
inline double Quantile(const std::vector<double>& rising, double part) {
  const double count = static_cast<double>(rising.size());
  const double rank = std::clamp(std::ceil(part * count), 1.0, count);
  return rising[static_cast<size_t>(rank) - 1];
}

}  // namespace attend

#endif  // ATTEND_CLI_BENCH_QUANTILE_H_
