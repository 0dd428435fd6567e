// The translation memory that commands look into.
#ifndef ATTEND_CLI_MEMORY_OPTIONS_H_
#define ATTEND_CLI_MEMORY_OPTIONS_H_

#include <string>

#include "base/fields.h"
#include "cli/command_line.h"

namespace attend {

// Which file, and which of a TMX's languages.
struct MemoryOptions {
  std::string path, source, target;
};
// Named memory, memory_source and memory_target.
FieldList Fields(MemoryOptions& options);

// Error(kUsage) where no memory is named, but what is of one is set: these fields, or LineOptions'.
void CheckMemoryIsNamed(const MemoryOptions& options, const CommandLine& command_line);

}  // namespace attend

#endif  // ATTEND_CLI_MEMORY_OPTIONS_H_
