// Counts n-grams of several sequences at once: exact, without building a string for each.
#ifndef ATTEND_METRICS_NGRAMS_H_
#define ATTEND_METRICS_NGRAMS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace attend {

// Characters, or words numbered by a WordNumbers.
using Symbols = std::u32string;

// Gives equal words the same number. The words must outlive it.
class WordNumbers {
 public:
  Symbols Number(const std::vector<std::u32string_view>& words);

 private:
  std::unordered_map<std::u32string_view, char32_t> numbers_;
};

// counts[s][g]: how often the n-gram g, numbered over all sequences, stands in sequence s.
using NgramCounts = std::vector<std::vector<int32_t>>;

// For orders 1 to `max_order`, in that order. Linear in the lengths.
std::vector<NgramCounts> CountNgrams(const std::vector<Symbols>& sequences, int64_t max_order);

}  // namespace attend

#endif  // ATTEND_METRICS_NGRAMS_H_
