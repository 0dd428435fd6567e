// Where packed weights lie, side by side: those of a model share huge pages, which a single matrix
// is too small for. One owner; what was taken stays where it is until Clear.
#ifndef ATTEND_ENGINE_BLOCKS_PACKED_MEMORY_H_
#define ATTEND_ENGINE_BLOCKS_PACKED_MEMORY_H_

#include <algorithm>
#include <vector>

#include "engine/blocks/aligned.h"

namespace attend {

class PackedMemory {
 public:
  // Memory comes in chunks of `chunk_bytes` or of a larger piece's size; what is not written takes
  // no room.
  explicit PackedMemory(size_t chunk_bytes = 8 * kHugePage) : chunk_bytes_(chunk_bytes) {}

  PackedMemory(const PackedMemory&) = delete;
  PackedMemory& operator=(const PackedMemory&) = delete;
  PackedMemory(PackedMemory&&) = default;
  PackedMemory& operator=(PackedMemory&&) = default;

  // A piece that starts on a cache line, its bytes as they come.
  std::byte* Take(size_t bytes) {
    bytes = RoundUp(bytes, kCacheLine);
    while (at_ < chunks_.size() && chunks_[at_].size() - used_ < bytes) {
      if (used_ > 0) {
        ++at_, used_ = 0;
      } else {  // too small altogether
        chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(at_));
      }
    }
    if (at_ == chunks_.size()) chunks_.emplace_back(std::max(bytes, chunk_bytes_));
    std::byte* piece = chunks_[at_].data() + used_;
    used_ += bytes;
    return piece;
  }
  // Gives everything back, to be taken again.
  void Clear() { at_ = used_ = 0; }

 private:
  size_t chunk_bytes_;
  std::vector<AlignedVector<std::byte>> chunks_;
  size_t at_ = 0, used_ = 0;  // the chunk that is taken from, and how much of it is
};

}  // namespace attend

#endif  // ATTEND_ENGINE_BLOCKS_PACKED_MEMORY_H_
