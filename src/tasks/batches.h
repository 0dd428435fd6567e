// Items divided into batches by length.
#ifndef ATTEND_TASKS_BATCHES_H_
#define ATTEND_TASKS_BATCHES_H_

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace attend {

// Items by length, the longest first, cut into batches of at most `limit` tokens.
class Batches {
 public:
  Batches(std::span<const int64_t> lengths, int64_t limit) : order_(lengths.size()) {
    std::iota(order_.begin(), order_.end(), int64_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int64_t a, int64_t b) { return lengths[a] > lengths[b]; });
    for (size_t first = 0; first < order_.size(); first = ends_.back()) {
      size_t last = first;
      int64_t tokens = 0;
      while (last < order_.size() && (last == first || tokens + lengths[order_[last]] <= limit)) {
        tokens += lengths[order_[last++]];
      }
      ends_.push_back(last);
    }
  }

  int64_t size() const { return std::ssize(ends_); }
  std::span<const int64_t> operator[](int64_t batch) const {
    const size_t first = batch == 0 ? 0 : ends_[batch - 1];
    return std::span(order_).subspan(first, ends_[batch] - first);
  }

 private:
  std::vector<int64_t> order_;
  std::vector<size_t> ends_;
};

}  // namespace attend

#endif  // ATTEND_TASKS_BATCHES_H_
