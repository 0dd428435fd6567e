// Flags of a glossary's terms, as files and requests have them.
#ifndef ATTEND_TEXT_GLOSSARY_H_
#define ATTEND_TEXT_GLOSSARY_H_

#include <string>
#include <string_view>

#include "attend/translator.h"

namespace attend {

// Sets the flags that are named, divided by commas. Throws Error(kInput) that begins with `where`
// for a name that is none.
void SetGlossaryFlags(std::string_view flags, const std::string& where, GlossaryTerm* term);

}  // namespace attend

#endif  // ATTEND_TEXT_GLOSSARY_H_
