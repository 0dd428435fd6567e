#include "metrics/pcg64.h"

#include <array>
#include <bit>
#include <cstddef>

namespace attend {
namespace {

// NumPy's SeedSequence: a pool of four words mixed from the seed, and eight words made of it.
class SeedSequence {
 public:
  explicit SeedSequence(uint64_t seed) {
    const std::array<uint32_t, 2> words = {static_cast<uint32_t>(seed),
                                           static_cast<uint32_t>(seed >> 32)};
    for (std::size_t i = 0; i < pool_.size(); ++i) pool_[i] = Hash(i < words.size() ? words[i] : 0);
    for (std::size_t from = 0; from < pool_.size(); ++from) {
      for (std::size_t to = 0; to < pool_.size(); ++to) {
        if (from != to) pool_[to] = Mix(pool_[to], Hash(pool_[from]));
      }
    }
  }

  std::array<uint64_t, 4> State() const {
    std::array<uint64_t, 4> state = {};
    uint32_t constant = 0x8b51f9dd;
    for (std::size_t i = 0; i < 8; ++i) {
      uint32_t word = pool_[i % pool_.size()] ^ constant;
      constant *= 0x58f38ded;
      word *= constant;
      word ^= word >> 16;
      state[i / 2] |= uint64_t{word} << (i % 2 * 32);
    }
    return state;
  }

 private:
  uint32_t Hash(uint32_t word) {
    word ^= constant_;
    constant_ *= 0x931e8875;
    word *= constant_;
    return word ^ (word >> 16);
  }
  static uint32_t Mix(uint32_t a, uint32_t b) {
    const uint32_t word = 0xca01f9dd * a - 0x4973f715 * b;
    return word ^ (word >> 16);
  }

  std::array<uint32_t, 4> pool_ = {};
  uint32_t constant_ = 0x43b0d7e5;
};

}  // namespace

Pcg64::Pcg64(uint64_t seed) {
  const std::array<uint64_t, 4> words = SeedSequence(seed).State();
  increment_ = (Uint128{words[2]} << 64 | words[3]) << 1 | 1;
  Next64();
  state_ += Uint128{words[0]} << 64 | words[1];
  Next64();
}

uint64_t Pcg64::Next64() {
  constexpr Uint128 kMultiplier = Uint128{2549297995355413924u} << 64 | 4865540595714422341u;
  state_ = state_ * kMultiplier + increment_;
  const auto high = static_cast<uint64_t>(state_ >> 64);
  return std::rotr(high ^ static_cast<uint64_t>(state_), static_cast<int>(high >> 58));
}

uint32_t Pcg64::Next32() {
  if (has_half_) {
    has_half_ = false;
    return half_;
  }
  const uint64_t number = Next64();
  has_half_ = true;
  half_ = static_cast<uint32_t>(number >> 32);
  return static_cast<uint32_t>(number);
}

uint32_t Pcg64::Below(uint32_t bound) {
  if (bound == 1) return 0;  // NumPy draws nothing here
  // Lemire 2019: the upper half of a product, redrawn where that would be biased.
  const uint32_t unbiased = (0u - bound) % bound;
  while (true) {
    const uint64_t product = uint64_t{Next32()} * bound;
    if (static_cast<uint32_t>(product) >= unbiased) return static_cast<uint32_t>(product >> 32);
  }
}

}  // namespace attend
