#include "memory/word_distance.h"

#include <algorithm>
#include <bit>

namespace attend {
namespace {

// Spreads neighbouring ids over a table of a power of two.
size_t SlotOf(uint32_t word, size_t slots) { return (word * size_t{2654435761}) % slots; }

}  // namespace

WordDistance::WordDistance(std::span<const uint32_t> words)
    : length_(std::ssize(words)),
      blocks_((words.size() + kBits - 1) / kBits),
      slots_(std::bit_ceil(2 * words.size() + 1)),
      rows_(slots_.size()),
      nowhere_(blocks_),
      rises_(blocks_),
      falls_(blocks_) {
  for (size_t i = 0; i < words.size(); ++i) {
    size_t slot = SlotOf(words[i], slots_.size());
    while (slots_[slot] != 0 && slots_[slot] != words[i] + 1) slot = (slot + 1) % slots_.size();
    if (slots_[slot] == 0) {
      slots_[slot] = words[i] + 1;
      rows_[slot] = places_.size();
      places_.resize(places_.size() + blocks_);
    }
    places_[rows_[slot] + i / kBits] |= uint64_t{1} << (i % kBits);
  }
}

const uint64_t* WordDistance::PlacesOf(uint32_t word) const {
  for (size_t slot = SlotOf(word, slots_.size()); slots_[slot] != 0;
       slot = (slot + 1) % slots_.size()) {
    if (slots_[slot] == word + 1) return &places_[rows_[slot]];
  }
  return nowhere_.data();
}

int WordDistance::Advance(const uint64_t* places) {
  const size_t last_bit = static_cast<size_t>(length_ - 1) % kBits;
  uint64_t rise_in = 1, fall_in = 0;  // the row above the first one counts up
  int change = 0;
  for (size_t block = 0; block < blocks_; ++block) {
    const uint64_t rises = rises_[block], falls = falls_[block];
    const uint64_t equal = places[block] | fall_in;
    const uint64_t diagonal = (((equal & rises) + rises) ^ rises) | equal | falls;
    uint64_t rise_row = falls | ~(diagonal | rises), fall_row = rises & diagonal;
    const size_t last = block + 1 == blocks_ ? last_bit : kBits - 1;
    const uint64_t rise_out = (rise_row >> last) & 1, fall_out = (fall_row >> last) & 1;
    rise_row = (rise_row << 1) | rise_in;
    fall_row = (fall_row << 1) | fall_in;
    rises_[block] = fall_row | ~(places[block] | falls | rise_row);
    falls_[block] = rise_row & (places[block] | falls);
    rise_in = rise_out;
    fall_in = fall_out;
    change = static_cast<int>(rise_out) - static_cast<int>(fall_out);
  }
  return change;
}

int64_t WordDistance::To(std::span<const uint32_t> other) {
  if (length_ == 0) return std::ssize(other);
  std::ranges::fill(rises_, ~uint64_t{0});
  std::ranges::fill(falls_, 0);
  int64_t distance = length_;
  for (const uint32_t word : other) distance += Advance(PlacesOf(word));
  return distance;
}

}  // namespace attend
