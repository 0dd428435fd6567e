// What `attend translate` tells of its lines at the end.
#ifndef ATTEND_CLI_TRANSLATE_TRANSLATION_COUNTS_H_
#define ATTEND_CLI_TRANSLATE_TRANSLATION_COUNTS_H_

#include <cstdint>

#include "attend/translator.h"
#include "base/log.h"
#include "cli/unknown_lines.h"
#include "text/unknown_characters.h"

namespace attend {

class TranslationCounts {
 public:
  // `most_pieces`: of an input.
  explicit TranslationCounts(int64_t most_pieces) : most_pieces_(most_pieces) {}

  void Add(int64_t line, const Translation& translation);
  void Report(const Log& log) const;

 private:
  int64_t most_pieces_;
  LineList cut_, divided_, with_unknown_, lacking_;
  UnknownCharacters unknown_;
  int64_t spans_ = 0, kept_ = 0, terms_ = 0, terms_kept_ = 0;  // of the best hypotheses
};

}  // namespace attend

#endif  // ATTEND_CLI_TRANSLATE_TRANSLATION_COUNTS_H_
