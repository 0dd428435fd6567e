// The one declaration of these options' fields, for command line, TOML and JSON.
#ifndef ATTEND_TASKS_PARSING_PARSING_OPTIONS_H_
#define ATTEND_TASKS_PARSING_PARSING_OPTIONS_H_

#include "attend/tagger.h"
#include "base/fields.h"

namespace attend {

inline constexpr int64_t kMostParsingBeams = 64;
// Symbols that an output may have beyond its input: the paper's, section 6.3.
inline constexpr int64_t kExtraSymbols = 300;

FieldList Fields(ParsingOptions& options);

// Throws Error(kUsage) for values that are out of range.
void CheckParsingOptions(const ParsingOptions& options);

}  // namespace attend

#endif  // ATTEND_TASKS_PARSING_PARSING_OPTIONS_H_
