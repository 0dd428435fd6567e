// Shares in percent, and other small parts of figures.
#ifndef ATTEND_METRICS_PERCENT_H_
#define ATTEND_METRICS_PERCENT_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace attend {

// 0 of nothing.
inline double Percent(int64_t part, int64_t whole) {
  return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

// As a signature spells what Metric::Signature is given.
std::string NumberOfReferences(size_t references);

}  // namespace attend

#endif  // ATTEND_METRICS_PERCENT_H_
