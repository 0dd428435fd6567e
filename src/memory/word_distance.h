// Levenshtein's distance between sequences of words, bit-parallel: Myers, "A Fast Bit-Vector
// Algorithm for Approximate String Matching Based on Dynamic Programming", Journal of the ACM
// 46(3), 1999; in blocks as Hyyro, "Explaining and Extending the Bit-parallel Approximate String
// Matching Algorithm of Myers", University of Tampere, A-2001-10, has it.
#ifndef ATTEND_MEMORY_WORD_DISTANCE_H_
#define ATTEND_MEMORY_WORD_DISTANCE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace attend {

// A sequence that others are compared with: takes a bit for each of its words, times its different
// ones. Not thread-safe: comparing uses memory of its own.
class WordDistance {
 public:
  explicit WordDistance(std::span<const uint32_t> words);

  // Words to insert, delete or replace to make one sequence the other. Takes time in proportion to
  // the other's length, for each 64 words of this one.
  int64_t To(std::span<const uint32_t> other);

 private:
  static constexpr size_t kBits = 64;
  // Where this sequence has the word: bits of `blocks_` integers; null: nowhere.
  const uint64_t* PlacesOf(uint32_t word) const;
  // One column of the table; returns how the value below the last row changes.
  int Advance(const uint64_t* places);

  int64_t length_;
  size_t blocks_;
  std::vector<uint32_t> slots_;   // a hash table of this sequence's words: word + 1, 0 where empty
  std::vector<size_t> rows_;      // of each slot in places_
  std::vector<uint64_t> places_;  // of each word, however often it stands there, blocks_ integers
  std::vector<uint64_t> nowhere_;
  std::vector<uint64_t> rises_, falls_;  // vertical differences that are +1 and -1
};

}  // namespace attend

#endif  // ATTEND_MEMORY_WORD_DISTANCE_H_
