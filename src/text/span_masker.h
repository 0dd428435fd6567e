// Replaces protected spans by numbered placeholders, which the model copies, and restores them:
// "see x.pdf" becomes "see ⟦0⟧", and back.
//
// If a source contains the text of a placeholder, that is a protected span too: no confusion.
// Immutable once made; safe to use from many threads.
#ifndef ATTEND_TEXT_SPAN_MASKER_H_
#define ATTEND_TEXT_SPAN_MASKER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attend/vocabulary.h"
#include "base/random.h"
#include "text/protected_spans.h"

namespace attend {

// Placeholders in a new vocabulary of a model with protection.
inline constexpr int64_t kPlaceholders = 32;
// The most: each needs a place in the beam of a search with constraints.
inline constexpr int64_t kMostPlaceholders = 63;

// "⟦3⟧"
std::string PlaceholderText(int64_t number);
// Ids of the vocabulary's placeholders, by number.
std::vector<int32_t> PlaceholderIds(const Vocabulary& vocabulary);

// A stretch of one text that stands for a stretch of another.
struct ReplacedPart {
  TextPart from, to;
};

// A text in which placeholder i stands for spans[i].
struct MaskedText {
  struct Span {
    std::string text;
    bool joined_before = false, joined_after = false;    // touches a word there
    bool touched_before = false, touched_after = false;  // touches another span there
  };
  std::string text;
  std::vector<Span> spans;
  std::vector<ReplacedPart> places;  // from the masked text to the one that was masked
  int64_t found = 0;                 // spans, including those left without a placeholder
};

struct RestoredText {
  std::string text;
  std::vector<ReplacedPart> places;  // from the output to the text
  int64_t kept = 0;                  // spans that occur exactly once
};

// What became of the spans of training pairs.
struct PairSpans {
  int64_t masked = 0;   // equally often on both sides: placeholders now
  int64_t unequal = 0;  // other spans of the source
};

// What the placeholders of a masked pair replace.
struct PairPlaces {
  std::vector<ReplacedPart> source, target;
};

class SpanMasker {
 public:
  // `placeholders`: how many there are; at least 1. Throws as SpanFinder.
  SpanMasker(const ProtectionOptions& options, int64_t placeholders);

  std::vector<TextPart> Find(std::string_view text) const;

  // Numbers spans in order. If there are more spans than placeholders, joins neighbours without a
  // letter between them, and leaves what is still too much as text.
  MaskedText Mask(std::string_view text) const;
  // Keeps the spaces around a span as the output has them. It adds one only if a letter or digit
  // would touch a span that touched none in the source, and between two spans of which neither
  // touched a word or span there.
  static RestoredText Restore(const MaskedText& masked, std::string_view output);

  // For a training pair: spans that occur equally often on both sides get placeholders. Their
  // numbers are drawn from `random`, so that all are trained; without it, they count in order.
  PairSpans MaskPair(std::string* source, std::string* target, Random* random,
                     PairPlaces* places = nullptr) const;
  // Of the beginning of a translation: spans that the masked source has, too, get its placeholders.
  std::string MaskBeginning(const MaskedText& source, std::string_view beginning) const;
  // Makes a pair that teaches copying: placeholders replace words that both sides share, and stand
  // at the beginnings and ends.
  void AddPlaceholders(std::string* source, std::string* target, Random* random) const;

 private:
  std::vector<int64_t> Numbers(std::string_view used, Random* random) const;

  SpanFinder finder_;
  int64_t placeholders_;
};

// For each white-space word of `from` the word of `to` that it begins in.
std::vector<int64_t> WordsAfter(std::string_view from, std::string_view to,
                                const std::vector<ReplacedPart>& places);

}  // namespace attend

#endif  // ATTEND_TEXT_SPAN_MASKER_H_
