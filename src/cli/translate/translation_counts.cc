#include "cli/translate/translation_counts.h"

#include <fmt/format.h>

namespace attend {

void TranslationCounts::Add(int64_t line, const Translation& translation) {
  const Hypothesis& best = translation.hypotheses[0];
  spans_ += best.protected_spans;
  kept_ += best.protected_kept;
  terms_ += best.terms;
  terms_kept_ += best.terms_kept;
  if (best.terms_kept < best.terms) lacking_.Add(line);
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
  if (terms_ > 0) {
    log(LogLevel::kInfo, fmt::format("terms of the glossary in the text: {}, of which {} are kept",
                                     terms_, terms_kept_));
  }
  if (lacking_.count() > 0) {
    log(LogLevel::kWarning,
        fmt::format("{} translation{} a term of the glossary: the search found no output with it "
                    "within the maximum length, or a match of the memory does not have it: {}",
                    lacking_.count(), lacking_.count() == 1 ? " lacks" : "s lack",
                    lacking_.Text()));
  }
  if (spans_ > 0) {
    log(LogLevel::kInfo, fmt::format("protected spans: {}, of which {} are kept", spans_, kept_));
  }
}

}  // namespace attend
