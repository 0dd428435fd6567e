#include "metrics/retrieval.h"

#include <algorithm>
#include <numeric>

namespace attend {

std::vector<int64_t> PlacesOfMatches(std::span<const float> queries, std::span<const float> keys,
                                     int64_t width) {
  const int64_t count = std::ssize(queries) / width;
  const auto product = [&](int64_t query, int64_t key) {
    return std::inner_product(queries.begin() + query * width,
                              queries.begin() + (query + 1) * width, keys.begin() + key * width,
                              0.0);
  };
  std::vector<int64_t> places(count, 0);
  for (int64_t query = 0; query < count; ++query) {
    const double own = product(query, query);
    for (int64_t key = 0; key < count; ++key) {
      const double other = product(query, key);
      places[query] += other > own || (other == own && key < query) ? 1 : 0;
    }
  }
  return places;
}

double RecallAt(std::span<const int64_t> places, int64_t most) {
  const auto found = std::ranges::count_if(places, [&](int64_t place) { return place < most; });
  return 100.0 * static_cast<double>(found) / static_cast<double>(places.size());
}

}  // namespace attend
