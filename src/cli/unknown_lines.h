// What commands tell of characters that a model's vocabulary lacks.
#ifndef ATTEND_CLI_UNKNOWN_LINES_H_
#define ATTEND_CLI_UNKNOWN_LINES_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attend/vocabulary.h"
#include "base/log.h"
#include "text/unknown_characters.h"

namespace attend {

// Counts lines, and remembers the first of them.
class LineList {
 public:
  // `noun`: what is counted.
  explicit LineList(std::string noun = "line") : noun_(std::move(noun)) {}
  void Add(int64_t line) { Add(std::to_string(line)); }
  void Add(std::string place);
  int64_t count() const { return count_; }
  const std::string& noun() const { return noun_; }
  // "line 3", "lines 3, 7 and 2 more", "lines a.txt:3, b.txt:1".
  std::string Text() const;

 private:
  std::string noun_;
  std::vector<std::string> first_;
  int64_t count_ = 0;
};

// Warns where there are such lines. `loss`: what it does, as in "translations lose them".
void WarnOfUnknown(const LineList& lines, const UnknownCharacters& unknown, std::string_view loss,
                   const Log& log);

// Counts them in texts that a model reads by itself. [MASK] has none.
class UnknownLines {
 public:
  explicit UnknownLines(std::shared_ptr<const Vocabulary> vocabulary, std::string noun = "line")
      : counter_(std::move(vocabulary)), lines_(std::move(noun)) {}

  // `file` is named where it is given.
  void Add(std::span<const std::string> texts, int64_t first_number, const std::string& file = "");
  void Report(const Log& log) const;

 private:
  UnknownCounter counter_;
  LineList lines_;
};

}  // namespace attend

#endif  // ATTEND_CLI_UNKNOWN_LINES_H_
