// Lists of the n best translations, as `attend translate --n-best` writes them.
#ifndef ATTEND_CLI_RERANK_N_BEST_LIST_H_
#define ATTEND_CLI_RERANK_N_BEST_LIST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

struct RankedText {
  std::string text;
  double score = 0;
};

// Of one line of the source, in the order of the file.
using NBestList = std::vector<RankedText>;

// Of one line: `number ||| text ||| score`, with or without ` ||| 0-0 1-2` after it. `where` opens
// the message of Error(kInput).
struct NBestLine {
  int64_t number = 0;  // of the source's line, from 0
  RankedText ranked;
};
NBestLine ParseNBestLine(std::string_view line, const std::string& where);

// The lists of a whole file, plain or compressed; -: standard input. Throws Error(kInput) that
// names the line where numbers do not go up from 0 one by one.
std::vector<NBestList> ReadNBestLists(const std::string& path);

}  // namespace attend

#endif  // ATTEND_CLI_RERANK_N_BEST_LIST_H_
