#include "cli/memory_options.h"

#include <fmt/format.h>

#include "attend/error.h"

namespace attend {

FieldList Fields(MemoryOptions& options) {
  FieldList fields;
  fields
      .Add("memory", &options.path,
           "translation memory: a TMX whose name ends in .tmx, or lines of source, tab and target")
      .Add("memory_source", &options.source,
           "the source's language in the TMX, such as en; empty: the one that the file names")
      .Add("memory_target", &options.target,
           "the target's language in the TMX; empty: the only other one");
  return fields;
}

void CheckMemoryIsNamed(const MemoryOptions& options, const CommandLine& command_line) {
  if (!options.path.empty()) return;
  for (const char* name : {"memory_source", "memory_target", "memory_exact", "memory_threshold"}) {
    if (command_line.IsSet(name))
      throw Error(ErrorKind::kUsage, fmt::format("{} is of memory; give memory, too", name));
  }
}

}  // namespace attend
