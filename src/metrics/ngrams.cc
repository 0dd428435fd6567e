#include "metrics/ngrams.h"

#include <algorithm>
#include <bit>

namespace attend {
namespace {

// Numbers 64-bit keys in the order in which they come first. Open addressing, at most half full.
class KeyNumbers {
 public:
  explicit KeyNumbers(size_t max_keys)
      : shift_(64 - std::bit_width(max_keys * 2)), slots_(size_t{1} << (64 - shift_)) {}

  uint32_t Number(uint64_t key) {
    const size_t mask = slots_.size() - 1;
    for (size_t i = (key * 0x9e3779b97f4a7c15) >> shift_;; i = (i + 1) & mask) {
      Slot& slot = slots_[i];
      if (slot.number_plus_one == 0) slot = {key, ++size_};
      if (slot.key == key) return slot.number_plus_one - 1;
    }
  }
  uint32_t size() const { return size_; }

 private:
  struct Slot {
    uint64_t key = 0;
    uint32_t number_plus_one = 0;
  };
  int shift_;
  std::vector<Slot> slots_;
  uint32_t size_ = 0;
};

}  // namespace

Symbols WordNumbers::Number(const std::vector<std::u32string_view>& words) {
  Symbols symbols;
  symbols.reserve(words.size());
  for (const std::u32string_view word : words) {
    symbols.push_back(
        numbers_.try_emplace(word, static_cast<char32_t>(numbers_.size())).first->second);
  }
  return symbols;
}

std::vector<NgramCounts> CountNgrams(const std::vector<Symbols>& sequences, int64_t max_order) {
  size_t total = 1;
  // numbers[s][i]: of the n-gram that starts at i; all alike (empty) before the first order.
  std::vector<std::vector<uint32_t>> numbers;
  for (const Symbols& sequence : sequences) {
    total += sequence.size();
    numbers.emplace_back(sequence.size(), 0);
  }
  std::vector<NgramCounts> orders;
  for (size_t order = 1; order <= static_cast<size_t>(max_order); ++order) {
    // An n-gram is its first n - 1 symbols, which have a number already, and one more.
    KeyNumbers keys(total);
    for (size_t s = 0; s < sequences.size(); ++s) {
      for (size_t i = 0; i + order <= sequences[s].size(); ++i) {
        numbers[s][i] =
            keys.Number(uint64_t{numbers[s][i]} << 32 | uint64_t{sequences[s][i + order - 1]});
      }
    }
    NgramCounts& counts = orders.emplace_back();
    for (size_t s = 0; s < sequences.size(); ++s) {
      counts.emplace_back(keys.size(), 0);
      for (size_t i = 0; i + order <= sequences[s].size(); ++i) ++counts[s][numbers[s][i]];
    }
  }
  return orders;
}

}  // namespace attend
