#include "text/cut_line.h"

#include <algorithm>

namespace attend {
namespace {

bool BeginsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80; }

}  // namespace

size_t LongestWord(std::string_view line) {
  size_t longest = 0, word = 0;
  for (const char byte : line) {
    if (BeginsCharacter(byte)) ++word;
    if (byte == ' ') word = 0;
    longest = std::max(longest, word);
  }
  return longest;
}

std::vector<std::string_view> CutLine(std::string_view line, size_t most) {
  std::vector<std::string_view> parts;
  size_t begin = 0, characters = 0;
  size_t space = line.npos;  // the part's last
  for (size_t at = 0; at < line.size(); ++at) {
    if (!BeginsCharacter(line[at])) continue;
    if (characters == most) {
      const bool inside = space == line.npos && line[at] != ' ';
      const size_t end = inside || line[at] == ' ' ? at : space;
      parts.push_back(line.substr(begin, end - begin));
      at = begin = inside ? end : end + 1;
      characters = 0;
      space = line.npos;
      if (at == line.size()) break;
    }
    if (line[at] == ' ') space = at;
    ++characters;
  }
  parts.push_back(line.substr(begin));
  return parts;
}

}  // namespace attend
