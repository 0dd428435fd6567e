// Files of translation memories.
#ifndef ATTEND_MEMORY_MEMORY_FILE_H_
#define ATTEND_MEMORY_MEMORY_FILE_H_

#include <memory>
#include <string>

#include "memory/translation_memory.h"

namespace attend {

bool IsTmx(const std::string& path);  // by its name

// A file whose name ends in .tmx (not compressed), or one of lines of source, tab and target (in
// .gz or .zst too); what stands behind another tab is passed over, and so are lines without a
// source or a target. Languages, such as en, are those of a TMX; "": what the file says (ReadTmx).
// Throws Error(kInput) that names file and line for what can't be read, such as text that is not
// UTF-8, and for a file without any unit; Error(kUsage) for languages of a table.
std::shared_ptr<const TranslationMemory> LoadMemory(const std::string& path,
                                                    const std::string& source = "",
                                                    const std::string& target = "");

}  // namespace attend

#endif  // ATTEND_MEMORY_MEMORY_FILE_H_
