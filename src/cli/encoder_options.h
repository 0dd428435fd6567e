// What the commands of encoders share: `attend classify`, `embed`, `fill` and `tag`.
#ifndef ATTEND_CLI_ENCODER_OPTIONS_H_
#define ATTEND_CLI_ENCODER_OPTIONS_H_

#include <fmt/format.h>

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "attend/error.h"
#include "base/log.h"

namespace attend {

// Files one after another; none: standard input.
inline std::vector<std::string> OrStandardInput(std::vector<std::string> files) {
  if (files.empty()) files.emplace_back("-");
  return files;
}

inline void WarnOfCutTexts(int64_t count, const Log& log) {
  if (count == 0) return;
  log(LogLevel::kWarning, fmt::format("{} texts are longer than the model can read; of these it "
                                      "read the beginning",
                                      count));
}

// After each window.
inline void FlushOutput() {
  if (!std::cout.flush())
    throw Error(ErrorKind::kRuntime, "can't write to standard output; is the disk full?");
}

}  // namespace attend

#endif  // ATTEND_CLI_ENCODER_OPTIONS_H_
