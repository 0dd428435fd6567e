// The packed matrices of a model, each known by the tensors that it was packed from: a model that
// has the same tensors, as one with an adapter, takes the same pieces. One owner while it grows;
// then safe to read from many threads.
#ifndef ATTEND_ENGINE_BLOCKS_PACKED_MATRICES_H_
#define ATTEND_ENGINE_BLOCKS_PACKED_MATRICES_H_

#include <map>
#include <vector>

#include "engine/blocks/packed_memory.h"

namespace attend {

class PackedMatrices {
 public:
  // Where the bytes of tensors lie that are packed side by side.
  using Stored = std::vector<const std::byte*>;

  // Null where there is none.
  const std::byte* Find(const Stored& stored) const {
    const auto found = pieces_.find(stored);
    return found == pieces_.end() ? nullptr : found->second;
  }
  // Memory for a new one, to be filled in.
  std::byte* Add(const Stored& stored, size_t bytes) {
    bytes_ += bytes;
    return pieces_[stored] = memory_.Take(bytes);
  }
  // Of all pieces.
  size_t bytes() const { return bytes_; }

 private:
  PackedMemory memory_;
  std::map<Stored, std::byte*> pieces_;
  size_t bytes_ = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_BLOCKS_PACKED_MATRICES_H_
