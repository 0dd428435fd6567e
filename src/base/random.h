// Random numbers that are keyed by what they are for, so that nothing has to be saved. Those of
// Next, Below, Uniform and Shuffle are the same on every machine; the last bits of Normal are those
// of its C library.
#ifndef ATTEND_BASE_RANDOM_H_
#define ATTEND_BASE_RANDOM_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace attend {

// A stream of numbers given by its key, e.g. {seed, epoch, line}: SplitMix64 over a mixed key. One
// owner; not thread-safe.
class Random {
 public:
  explicit Random(std::initializer_list<uint64_t> key);

  uint64_t Next();
  // Uniform in [0, bound), without bias. Precondition: bound > 0.
  uint64_t Below(uint64_t bound);
  // Uniform in [0, 1), 53 bits.
  double Uniform();
  // Normal with mean 0 and deviation 1.
  double Normal();

  template <class T>
  void Shuffle(std::vector<T>* items) {
    for (size_t i = items->size(); i > 1; --i) std::swap((*items)[i - 1], (*items)[Below(i)]);
  }

 private:
  uint64_t state_;
};

}  // namespace attend

#endif  // ATTEND_BASE_RANDOM_H_
