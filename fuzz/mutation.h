// Random damage to a file, the same for the same key: what a flipped disk, a cut download or
// somebody hostile makes of it.
#ifndef ATTEND_FUZZ_MUTATION_H_
#define ATTEND_FUZZ_MUTATION_H_

#include <algorithm>
#include <string>
#include <string_view>

#include "base/random.h"

namespace attend {

// What readers of numbers, lengths and nesting stumble over.
inline constexpr std::string_view kNastyTokens[] = {
    "0",
    "-1",
    "1e308",
    "4294967296",
    "18446744073709551615",
    "9223372036854775808",
    "4611686018427387904",
    "NaN",
    "null",
    "true",
    "{}",
    "[]",
    "[[[[[[[[[[",
    "{\"a\":{\"a\":{\"a\":",
    "\"\"",
    "\"\\u0000\"",
    "\xff\xfe",
    ",",
    "\"",
    "..",
    std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff", 8),
    std::string_view("\0\0\0\0\0\0\0\x80", 8)};

// One to four changes; most near the start, where headers are.
inline std::string Mutate(std::string bytes, Random* random) {
  for (uint64_t changes = 1 + random->Below(4); changes > 0; --changes) {
    const size_t window =
        random->Below(2) == 0 ? std::min<size_t>(bytes.size(), 4096) : bytes.size();
    const size_t place = window == 0 ? 0 : random->Below(window);
    const size_t length =
        std::min<size_t>(1 + random->Below(1 + random->Below(64)), bytes.size() - place);
    const std::string_view token = kNastyTokens[random->Below(std::size(kNastyTokens))];
    switch (random->Below(7)) {
      case 0:
        if (!bytes.empty())
          bytes[place] = static_cast<char>(bytes[place] ^ (1 << random->Below(8)));
        break;
      case 1:
        if (!bytes.empty()) bytes[place] = static_cast<char>(random->Next());
        break;
      case 2:
        bytes.erase(place, length);
        break;
      case 3:
        bytes.insert(place, token);
        break;
      case 4:
        bytes.replace(place, length, token);
        break;
      case 5:
        bytes.insert(place, bytes.substr(bytes.empty() ? 0 : random->Below(bytes.size()), length));
        break;
      default:
        if (random->Below(4) == 0) bytes.resize(place);
    }
  }
  return bytes;
}

}  // namespace attend

#endif  // ATTEND_FUZZ_MUTATION_H_
