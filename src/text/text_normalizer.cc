#include "text/text_normalizer.h"

#include <fmt/format.h>
#include <unicode/bytestream.h>
#include <unicode/edits.h>
#include <unicode/stringpiece.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "attend/error.h"
#include "text/tokenizer_characters.h"
#include "text/utf8.h"

namespace attend {
namespace {

bool IsAscii(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return (c & 0x80) != 0; });
}

// The blocks that BERT takes for Chinese.
bool IsChinese(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B81F) ||
         (c >= 0x2B920 && c <= 0x2CEAF) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0x2F800 && c <= 0x2FA1F);
}

void AppendClean(char32_t character, std::string* text) {
  constexpr char32_t kReplacement = 0xFFFD;
  const bool space = character == '\t' || character == '\n' || character == '\r';
  if (!space && (character == kReplacement || IsOther8(character))) return;
  AppendUtf8(IsWhiteSpace(character) ? U' ' : character, text);
}

// Calls append(character, &text) for each character, to append what becomes of it.
template <class Append>
void MapCharacters(TrackedText* text, const Append& append) {
  const std::string& old = text->text();
  std::string mapped;
  std::vector<size_t> from;
  mapped.reserve(old.size() + old.size() / 8);
  for (size_t at = 0; at < old.size();) {
    const size_t begin = at;
    UChar32 character = 0;
    U8_NEXT_OR_FFFD(old.data(), at, old.size(), character);
    append(static_cast<char32_t>(character), &mapped);
    if (text->tracks()) from.resize(mapped.size(), begin);
  }
  text->Become(std::move(mapped), from);
}

void DropIf(bool (*drops)(char32_t), TrackedText* text) {
  MapCharacters(text, [drops](char32_t character, std::string* kept) {
    if (!drops(character)) AppendUtf8(character, kept);
  });
}

// For each byte of the new text the byte of the old one.
std::vector<size_t> OriginsOf(const icu::Edits& edits) {
  std::vector<size_t> from;
  UErrorCode status = U_ZERO_ERROR;
  for (auto edit = edits.getFineIterator(); edit.next(status) && U_SUCCESS(status);) {
    for (int32_t i = 0; i < edit.newLength(); ++i)
      from.push_back(static_cast<size_t>(edit.sourceIndex() + (edit.hasChange() ? 0 : i)));
  }
  return from;
}

void ToForm(NormalizationForm form, TrackedText* text) {
  const std::string& old = text->text();
  if (old.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
    throw Error(ErrorKind::kInput, "a line of more than 2 GiB can't be normalized");
  std::string normalized;
  icu::StringByteSink<std::string> sink(&normalized);
  icu::Edits edits;
  UErrorCode status = U_ZERO_ERROR;
  NormalizerOf9(form).normalizeUTF8(0, icu::StringPiece(old), sink,
                                    text->tracks() ? &edits : nullptr, status);
  edits.copyErrorTo(status);
  if (U_FAILURE(status)) {
    throw Error(ErrorKind::kRuntime,
                fmt::format("ICU can't normalize a line: {}", u_errorName(status)));
  }
  text->Become(std::move(normalized), OriginsOf(edits));
}

void Apply(NormalizerStep step, TrackedText* text) {
  switch (step) {
    case NormalizerStep::kCleanText:
      return MapCharacters(text, AppendClean);
    case NormalizerStep::kLower:
      return MapCharacters(text, AppendLower17);
    default:
      break;
  }
  if (IsAscii(text->text())) return;  // which the steps below leave as it is
  switch (step) {
    case NormalizerStep::kSpaceChinese:
      return MapCharacters(text, [](char32_t character, std::string* spaced) {
        const std::string_view space = IsChinese(character) ? " " : "";
        spaced->append(space);
        AppendUtf8(character, spaced);
        spaced->append(space);
      });
    case NormalizerStep::kDropNonspacing:
      return DropIf(IsNonspacingMark8, text);
    case NormalizerStep::kDropMarks:
      return DropIf(IsMark9, text);
    case NormalizerStep::kNfc:
      return ToForm(NormalizationForm::kNfc, text);
    case NormalizerStep::kNfd:
      return ToForm(NormalizationForm::kNfd, text);
    case NormalizerStep::kNfkc:
      return ToForm(NormalizationForm::kNfkc, text);
    case NormalizerStep::kNfkd:
      return ToForm(NormalizationForm::kNfkd, text);
    default:
      return;
  }
}

}  // namespace

TrackedText::TrackedText(std::string_view line, size_t begin, size_t end, bool track)
    : text_(line.substr(begin, end - begin)), end_(end), track_(track) {
  if (!track) return;
  for (size_t at = begin; at < end; ++at) origins_.push_back(at);
}

void TrackedText::Become(std::string text, const std::vector<size_t>& from) {
  text_ = std::move(text);
  if (!track_) return;
  std::vector<size_t> origins;
  origins.reserve(from.size());
  for (const size_t at : from) origins.push_back(origins_[at]);
  origins_ = std::move(origins);
}

void Normalize(const std::vector<NormalizerStep>& steps, TrackedText* text) {
  for (const NormalizerStep step : steps) Apply(step, text);
}

}  // namespace attend
