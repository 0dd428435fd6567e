// The translation memory that commands look into.
#ifndef ATTEND_CLI_MEMORY_OPTIONS_H_
#define ATTEND_CLI_MEMORY_OPTIONS_H_

#include <string>

#include "base/fields.h"

namespace attend {

// Which file, and which of a TMX's languages.
struct MemoryOptions {
  std::string path, source, target;
};
// Named memory, memory_source and memory_target.
FieldList Fields(MemoryOptions& options);

}  // namespace attend

#endif  // ATTEND_CLI_MEMORY_OPTIONS_H_
