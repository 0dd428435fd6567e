// How often a vector finds the one that belongs to it among all, as retrieval is measured.
#ifndef ATTEND_METRICS_RETRIEVAL_H_
#define ATTEND_METRICS_RETRIEVAL_H_

#include <cstdint>
#include <span>
#include <vector>

namespace attend {

// Query i belongs to key i. Counts, for each query, the keys that come before its own: those whose
// product with it is larger, and of equal ones those before it. Vectors of this width, one after
// another, as many queries as keys. Works in time of their square.
std::vector<int64_t> PlacesOfMatches(std::span<const float> queries, std::span<const float> keys,
                                     int64_t width);

// The share of queries whose own key is among the first `most`, in percent. Precondition: there is
// one.
double RecallAt(std::span<const int64_t> places, int64_t most);

}  // namespace attend

#endif  // ATTEND_METRICS_RETRIEVAL_H_
