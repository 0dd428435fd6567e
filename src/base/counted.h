// Nouns that are counted, for messages.
#ifndef ATTEND_BASE_COUNTED_H_
#define ATTEND_BASE_COUNTED_H_

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace attend {

// "1 text", "2 texts", of a noun whose plural ends in s.
inline std::string Counted(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace attend

#endif  // ATTEND_BASE_COUNTED_H_
