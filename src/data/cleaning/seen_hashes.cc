#include "data/cleaning/seen_hashes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attend/error.h"

namespace attend {

namespace {

constexpr uint64_t kEmpty = 0;

uint64_t NotEmpty(uint64_t hash) { return std::max<uint64_t>(hash, kEmpty + 1); }

}  // namespace

bool SeenHashes::Add(uint64_t hash) {
  hash = NotEmpty(hash);
  if (4 * (count_ + 1) > 3 * std::ssize(places_)) Grow();
  uint64_t& place = places_[PlaceOf(hash)];
  if (place == hash) return false;
  place = hash;
  ++count_;
  return true;
}

bool SeenHashes::Has(uint64_t hash) const {
  return !places_.empty() && places_[PlaceOf(NotEmpty(hash))] != kEmpty;
}

size_t SeenHashes::PlaceOf(uint64_t hash) const {
  const size_t last = places_.size() - 1;
  size_t at = hash & last;
  while (places_[at] != kEmpty && places_[at] != hash) at = (at + 1) & last;
  return at;
}

void SeenHashes::Grow() {
  constexpr size_t kFirstPlaces = 1024;
  const size_t places = std::max(kFirstPlaces, 2 * places_.size());
  const auto bytes = static_cast<int64_t>(sizeof(uint64_t) * (places + places_.size()));
  if (bytes > most_bytes_) {
    throw Error(ErrorKind::kRuntime,
                fmt::format("looking for duplicates among {} different texts and more takes {} "
                            "MiB, but duplicate_memory is {}; raise it, or set duplicates to none",
                            count_, (bytes >> 20) + 1, most_bytes_ >> 20));
  }
  const std::vector<uint64_t> before = std::exchange(places_, std::vector<uint64_t>(places));
  for (const uint64_t hash : before) {
    if (hash != kEmpty) places_[PlaceOf(hash)] = hash;
  }
}

}  // namespace attend
