#include "tasks/translation/matched_text.h"

#include <fmt/format.h>

namespace attend {

bool ReadsMatches(const Vocabulary& vocabulary) {
  return vocabulary.Id(kMemoryToken) != vocabulary.special_ids().unk;
}

std::string WithMatch(std::string_view source, std::string_view target) {
  return fmt::format("{} {} {}", source, kMemoryToken, target);
}

std::string_view WithoutMatch(std::string_view text) {
  return text.substr(0, text.find(fmt::format(" {} ", kMemoryToken)));
}

}  // namespace attend
