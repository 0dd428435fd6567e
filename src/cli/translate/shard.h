// The part of a file's lines that one of several machines translates.
#ifndef ATTEND_CLI_TRANSLATE_SHARD_H_
#define ATTEND_CLI_TRANSLATE_SHARD_H_

#include <cstdint>
#include <string>
#include <utility>

namespace attend {

// Shard `index` of `count`, from 1.
struct LineShard {
  int64_t index = 1, count = 1;

  // From "2/8"; "" is the whole file. Throws Error(kUsage) for anything else.
  static LineShard Parse(const std::string& text);
  bool IsWhole() const { return count == 1; }
  // The first and the last line, from 1, of a file of so many; the last is before the first where
  // there is none. Shard after shard they make up the file, and differ by one line at most.
  std::pair<int64_t, int64_t> LinesOf(int64_t lines) const;
};

}  // namespace attend

#endif  // ATTEND_CLI_TRANSLATE_SHARD_H_
