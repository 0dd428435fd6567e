// Sums and orders of scores that are logarithms.
#ifndef ATTEND_SEARCH_SCORES_H_
#define ATTEND_SEARCH_SCORES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace attend {

// The sum of exp(score) in f64, from the first to the last, without overflow.
class ExpSum {
 public:
  // Precondition: there is a score.
  template <class Score>
  explicit ExpSum(std::span<const Score> scores)
      : largest_(static_cast<double>(*std::ranges::max_element(scores))) {
    if (largest_ == -std::numeric_limits<double>::infinity()) return;
    for (const Score score : scores) sum_ += std::exp(static_cast<double>(score) - largest_);
  }

  double Log() const { return largest_ + std::log(sum_); }
  // Of a score, in the sum.
  double Share(double score) const { return std::exp(score - largest_) / sum_; }

 private:
  double largest_, sum_ = 0;
};

// ((5 + length) / 6)^alpha, which log-probabilities are divided by (Wu et al. 2016).
inline double LengthPenalty(int64_t length, double alpha) {
  return std::pow((5.0 + static_cast<double>(length)) / 6.0, alpha);
}

// Of these ids the `count` with the highest scores, or all where there are fewer, best first; equal
// ones by id.
inline std::vector<int32_t> BestIds(std::span<const float> scores_V, std::vector<int32_t> ids,
                                    int64_t count) {
  const auto end = ids.begin() + std::min<int64_t>(count, std::ssize(ids));
  std::partial_sort(ids.begin(), end, ids.end(), [&](int32_t a, int32_t b) {
    return scores_V[a] != scores_V[b] ? scores_V[a] > scores_V[b] : a < b;
  });
  ids.erase(end, ids.end());
  return ids;
}

}  // namespace attend

#endif  // ATTEND_SEARCH_SCORES_H_
