// Reads TMX 1.4 (LISA), the exchange format of translation memories, as it streams by.
#ifndef ATTEND_MEMORY_TMX_H_
#define ATTEND_MEMORY_TMX_H_

#include <functional>
#include <string>

#include "memory/translation_memory.h"

namespace attend {

// Gives `use` each unit that has a text in both languages, with the text of its inline elements'
// codes (bpt, ept, it, ph, ut, sub) left out. A language fits the one that is asked for if it is
// the same, or one of its regions (en-US for en). "" as source is what the unit or the header
// names (srclang); "" as target is the only other language. Throws Error(kInput) that names the
// file for one that can't be read, is no XML (with its line) or no TMX, where a "" does not say
// enough, and for one without such a unit, with the languages that it has.
void ReadTmx(const std::string& path, const std::string& source, const std::string& target,
             const std::function<void(MemoryUnit)>& use);

}  // namespace attend

#endif  // ATTEND_MEMORY_TMX_H_
