#include "base/random.h"

#include <cmath>
#include <numbers>

namespace attend {
namespace {

// SplitMix64's finaliser (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
// 2014).
uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;

}  // namespace

Random::Random(std::initializer_list<uint64_t> key) : state_(key.size()) {
  for (const uint64_t part : key) state_ = Mix(Mix(state_ + kGolden) + Mix(part));
}

uint64_t Random::Next() {
  state_ += kGolden;
  return Mix(state_);
}

uint64_t Random::Below(uint64_t bound) {
  const uint64_t unbiased = UINT64_MAX - UINT64_MAX % bound;
  uint64_t number = Next();
  while (number >= unbiased) number = Next();
  return number % bound;
}

double Random::Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

double Random::Normal() {
  const double radius = std::sqrt(-2 * std::log(1 - Uniform()));
  return radius * std::cos(2 * std::numbers::pi * Uniform());
}

}  // namespace attend
