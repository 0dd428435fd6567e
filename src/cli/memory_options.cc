#include "cli/memory_options.h"

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

}  // namespace attend
