// Which hashes were there before, in bounded memory.
#ifndef ATTEND_DATA_CLEANING_SEEN_HASHES_H_
#define ATTEND_DATA_CLEANING_SEEN_HASHES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace attend {

// Takes 10 to 22 bytes for each hash, half as much again while it grows. Two different texts have
// one hash of 64 bits with a probability of 3e-4 among a hundred million. One owner.
class SeenHashes {
 public:
  // `most_bytes`: what the table may take.
  explicit SeenHashes(int64_t most_bytes) : most_bytes_(most_bytes) {}

  // Adds a hash; false where it was there. Throws Error(kRuntime) where the memory does not do.
  bool Add(uint64_t hash);
  bool Has(uint64_t hash) const;
  int64_t count() const { return count_; }

 private:
  void Grow();
  // Where the hash stands, or would stand. Precondition: there are places.
  size_t PlaceOf(uint64_t hash) const;

  int64_t most_bytes_;
  int64_t count_ = 0;
  std::vector<uint64_t> places_;  // a power of 2 of them; 0: empty
};

}  // namespace attend

#endif  // ATTEND_DATA_CLEANING_SEEN_HASHES_H_
