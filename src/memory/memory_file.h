// Files of translation memories.
#ifndef ATTEND_MEMORY_MEMORY_FILE_H_
#define ATTEND_MEMORY_MEMORY_FILE_H_

#include <memory>
#include <string>

#include "memory/translation_memory.h"

namespace attend {

// A file whose name ends in .tmx (not compressed), or one of lines of source, tab and target (in
// .gz or .zst too); what stands behind another tab is passed over, and so are empty lines.
// Languages, such as en, are those of a TMX; "": what the file says (ReadTmx). Malformed UTF-8 is
// repaired. Throws Error(kInput) that names file and line for what can't be read, and for a file
// without any unit.
std::shared_ptr<const TranslationMemory> LoadMemory(const std::string& path,
                                                    const std::string& source = "",
                                                    const std::string& target = "");

}  // namespace attend

#endif  // ATTEND_MEMORY_MEMORY_FILE_H_
