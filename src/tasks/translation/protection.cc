#include "tasks/translation/protection.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/error.h"
#include "text/lines.h"
#include "text/text_parts.h"
#include "text/utf8.h"

namespace attend {

namespace {

// Of `count` words, which begin at the places of those before: all words of a span are as sure as
// its placeholder. Nothing where nothing is known.
std::vector<double> QualityAfter(const std::vector<double>& quality,
                                 std::span<const int64_t> places, int64_t count) {
  if (quality.empty()) return {};
  std::vector<double> after(count, 100.0);
  const size_t known = std::min(quality.size(), places.size());
  for (size_t i = 0; i < known; ++i) {
    const int64_t end = i + 1 < known ? std::max(places[i] + 1, places[i + 1]) : count;
    for (int64_t word = places[i]; word < end; ++word)
      after[word] = std::min(after[word], quality[i]);
  }
  return after;
}

}  // namespace

ProtectionOptions ProtectionOf(const Json& tokenization) {
  ProtectionOptions options;
  const FieldList fields = Fields(options);
  for (const Field& field : fields.fields()) {
    const auto found = tokenization.find(field.name);
    if (found == tokenization.end()) continue;
    const std::string where = "the model's tokenization";
    field.Set(MemberOf<std::vector<std::string>>(tokenization, field.name.c_str(), where), where);
  }
  return options;
}

void AddProtection(const ProtectionOptions& options, Json* tokenization) {
  if (options.empty()) return;
  ProtectionOptions copy = options;
  tokenization->update(FieldsToJson(Fields(copy)));
}

Protection::Protection(const Json& tokenization, const Vocabulary& source, const Vocabulary& target,
                       bool on) {
  const ProtectionOptions options = ProtectionOf(tokenization);
  if (options.empty()) return;
  source_ids_ = PlaceholderIds(source);
  target_ids_ = PlaceholderIds(target);
  const size_t count =
      std::min<size_t>({source_ids_.size(), target_ids_.size(), kMostPlaceholders});
  if (count == 0) {
    throw Error(ErrorKind::kInput,
                "the model's tokenization protects spans, but its vocabulary has no placeholders");
  }
  source_ids_.resize(count);
  target_ids_.resize(count);
  rising_ids_ = target_ids_;
  std::sort(rising_ids_.begin(), rising_ids_.end());
  if (!on) return;
  try {
    masker_ = std::make_unique<SpanMasker>(options, static_cast<int64_t>(count));
  } catch (const Error& error) {
    throw Error(ErrorKind::kInput, fmt::format("the model's tokenization: {}", error.what()));
  }
}

MaskedText Protection::Mask(const std::string& text) const {
  if (masker_ == nullptr) return {.text = text};
  return masker_->Mask(IsValidUtf8(text) ? text : RepairUtf8(text));
}

PairPlaces Protection::MaskPair(std::string* source, std::string* target) const {
  PairPlaces places;
  if (masker_ != nullptr) masker_->MaskPair(source, target, nullptr, &places);
  return places;
}

std::string Protection::MaskBeginning(const MaskedText& source,
                                      const std::string& beginning) const {
  return masker_ == nullptr ? beginning : masker_->MaskBeginning(source, beginning);
}

std::vector<TextPart> Protection::Find(std::string_view text) const {
  return masker_ == nullptr ? std::vector<TextPart>{} : masker_->Find(text);
}

std::vector<int32_t> Protection::Once(std::span<const int32_t> source) const {
  std::vector<int32_t> once;
  for (const int32_t id : source) {
    const auto at = std::find(source_ids_.begin(), source_ids_.end(), id);
    if (at == source_ids_.end()) continue;
    const int32_t target = target_ids_[at - source_ids_.begin()];
    if (std::find(once.begin(), once.end(), target) == once.end()) once.push_back(target);
  }
  return once;
}

void Protection::Restore(const std::string& text, const MaskedText& masked,
                         Hypothesis* hypothesis) const {
  if (masker_ == nullptr || masked.found == 0) return;
  hypothesis->text = WithSingleSpaces(hypothesis->text);  // models put too many around a span
  RestoredText restored = SpanMasker::Restore(masked, hypothesis->text);
  const std::vector<int64_t> source_words = WordsAfter(masked.text, text, masked.places),
                             target_words =
                                 WordsAfter(hypothesis->text, restored.text, restored.places);
  for (AlignmentLink& link : hypothesis->alignment)
    link = {source_words.at(link.source), target_words.at(link.target)};
  hypothesis->word_quality =
      QualityAfter(hypothesis->word_quality, target_words, CountWords(restored.text));
  hypothesis->text = std::move(restored.text);
  hypothesis->protected_spans = masked.found;
  hypothesis->protected_kept = restored.kept;
}

}  // namespace attend
