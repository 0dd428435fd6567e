// The protected spans of a model that was trained with placeholders for them.
#ifndef ATTEND_TASKS_TRANSLATION_PROTECTION_H_
#define ATTEND_TASKS_TRANSLATION_PROTECTION_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/translator.h"
#include "attend/vocabulary.h"
#include "base/json.h"
#include "text/span_masker.h"

namespace attend {

// What Model::tokenization says of protection. Throws Error(kInput) for members that are no lists
// of texts.
ProtectionOptions ProtectionOf(const Json& tokenization);
void AddProtection(const ProtectionOptions& options, Json* tokenization);

// Immutable; safe to use from many threads.
class Protection {
 public:
  Protection() = default;
  // `on`: false for spans that are translated like all text. Throws Error(kInput) for expressions
  // that RE2 refuses and vocabularies without placeholders.
  Protection(const Json& tokenization, const Vocabulary& source, const Vocabulary& target, bool on);

  // Whether the model has placeholders.
  bool trained() const { return !target_ids_.empty(); }
  // The text as the model reads it.
  MaskedText Mask(const std::string& text) const;
  // A given pair as the model read pairs in training: spans that both sides have are placeholders.
  PairPlaces MaskPair(std::string* source, std::string* target) const;
  // The beginning of a translation, with the placeholders of the source.
  std::string MaskBeginning(const MaskedText& source, const std::string& beginning) const;
  // Spans of a text that must not be cut.
  std::vector<TextPart> Find(std::string_view text) const;
  // Ids of the target's placeholders, rising; those that stand for the placeholders among source
  // ids, each once.
  const std::vector<int32_t>& ids() const { return rising_ids_; }
  std::vector<int32_t> Once(std::span<const int32_t> source) const;
  // Puts spans in place of placeholders, in the text and its alignment's words.
  void Restore(const std::string& text, const MaskedText& masked, Hypothesis* hypothesis) const;

 private:
  std::unique_ptr<const SpanMasker> masker_;  // null: off
  std::vector<int32_t> source_ids_, target_ids_, rising_ids_;
};

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSLATION_PROTECTION_H_
