// Character references of HTML (HTML standard, section 13.1.4).
#ifndef ATTEND_HTML_ENTITIES_H_
#define ATTEND_HTML_ENTITIES_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace attend {

// Of a name or number without & and ; as "amp", "#39" or "#x27"; 0 for one that is not known.
uint32_t CharacterOfEntity(std::string_view name);

std::string Utf8(uint32_t character);

}  // namespace attend

#endif  // ATTEND_HTML_ENTITIES_H_
