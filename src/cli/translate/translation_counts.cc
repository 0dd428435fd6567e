#include "cli/translate/translation_counts.h"

#include <fmt/format.h>

namespace attend {

void TranslationCounts::Add(int64_t line, const Translation& translation) {
  const Hypothesis& best = translation.hypotheses[0];
  spans_ += best.protected_spans;
  kept_ += best.protected_kept;
  if (!best.finished) cut_.Add(line);
  if (translation.divided) divided_.Add(line);
  if (translation.unknown_characters.empty()) return;
  with_unknown_.Add(line);
  unknown_.unknown += std::ssize(translation.unknown_characters);
  for (const char32_t character : translation.unknown_characters) ++unknown_.counts[character];
}

void TranslationCounts::Report(const Log& log) const {
  const int64_t divided = divided_.count(), cut = cut_.count();
  if (divided > 0) {
    log(LogLevel::kWarning,
        fmt::format("{} line{} a sentence of more than {} tokens, which was translated in parts: "
                    "{}; overlong refuse stops at such lines",
                    divided, divided == 1 ? " has" : "s have", most_pieces_, divided_.Text()));
  }
  WarnOfUnknown(with_unknown_, unknown_, "translations lose them", log);
  if (cut > 0) {
    log(LogLevel::kWarning,
        fmt::format("{} translation{} cut at the maximum length, of {}; {} longer with a larger "
                    "max_length?",
                    cut, cut == 1 ? " was" : "s were", cut_.Text(),
                    cut == 1 ? "is it" : "are they"));
  }
  if (spans_ > 0) {
    log(LogLevel::kInfo, fmt::format("protected spans: {}, of which {} are kept", spans_, kept_));
  }
}

}  // namespace attend
