#include "tasks/translation/matched_text.h"

#include <fmt/format.h>

#include "text/vocabulary_extension.h"

namespace attend {

bool ReadsMatches(const Vocabulary& vocabulary) {
  return IdOfToken(vocabulary, std::string(kMemoryToken)).has_value();
}

std::string WithMatch(std::string_view source, std::string_view target) {
  return fmt::format("{} {} {}", source, kMemoryToken, target);
}

std::string_view WithoutMatch(std::string_view text) {
  return text.substr(0, text.find(fmt::format(" {} ", kMemoryToken)));
}

}  // namespace attend
