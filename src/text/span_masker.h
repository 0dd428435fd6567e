// Protected spans as numbered placeholders, in front of a model that copies those: "see ⟦0⟧" for
// "see x.pdf", and back.
//
// A placeholder's text in a source is a protected span itself, so that it is never taken for one.
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

// Placeholders that a new vocabulary of a model with protection has.
inline constexpr int64_t kPlaceholders = 32;
// Each has a place in the beam of a search with constraints.
inline constexpr int64_t kMostPlaceholders = 63;

// "⟦3⟧"
std::string PlaceholderText(int64_t number);
// Their ids by number, as many as the vocabulary has pieces for.
std::vector<int32_t> PlaceholderIds(const Vocabulary& vocabulary);

// A stretch of one text that stands for a stretch of another.
struct ReplacedPart {
  TextPart from, to;
};

// A text in which placeholder i stands for spans[i].
struct MaskedText {
  struct Span {
    std::string text;
    bool joined_before = false, joined_after = false;  // a word runs on there
  };
  std::string text;
  std::vector<Span> spans;
  std::vector<ReplacedPart> places;  // from the masked text to the one that was masked
  int64_t found = 0;                 // spans, those included that no placeholder was left for
};

struct RestoredText {
  std::string text;
  std::vector<ReplacedPart> places;  // from the output to the text
  int64_t kept = 0;                  // spans that stand exactly once
};

// What became of the spans of training pairs.
struct PairSpans {
  int64_t masked = 0;   // that stand as often on both sides, and are placeholders now
  int64_t unequal = 0;  // of the source, that do not
};

// Where the placeholders of a masked pair stand for what.
struct PairPlaces {
  std::vector<ReplacedPart> source, target;
};

class SpanMasker {
 public:
  // `placeholders`: how many there are; at least 1. Throws as SpanFinder.
  SpanMasker(const ProtectionOptions& options, int64_t placeholders);

  std::vector<TextPart> Find(std::string_view text) const;

  // Numbers spans as they come. Where there are more than placeholders, neighbours without a letter
  // between them are one span, and what is left after that stays as it is.
  MaskedText Mask(std::string_view text) const;
  // What stands next to a span keeps its spaces as the output has them; only where a letter or
  // digit would run on into a span that stood alone there is one more.
  static RestoredText Restore(const MaskedText& masked, std::string_view output);

  // Of a training pair: spans whose text stands as often on both sides get placeholders, with
  // numbers drawn from `random`, so that all are trained; without it, as they come.
  PairSpans MaskPair(std::string* source, std::string* target, Random* random,
                     PairPlaces* places = nullptr) const;
  // Makes the pair one to learn copying from: placeholders for words that both sides share, and at
  // their beginnings and ends.
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
