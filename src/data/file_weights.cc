#include "data/file_weights.h"

#include <cmath>

namespace attend {

int64_t TimesOf(double weight) { return static_cast<int64_t>(std::ceil(weight)); }

bool TakesExample(double weight, Random random, int64_t epoch, int64_t time) {
  if (weight == std::floor(weight)) return true;
  const double start = random.Uniform();
  const double before = std::floor(start + weight * static_cast<double>(epoch));
  const double after = std::floor(start + weight * static_cast<double>(epoch + 1));
  const bool every = after - before == std::ceil(weight);
  return every || random.Below(TimesOf(weight)) != static_cast<uint64_t>(time);
}

}  // namespace attend
