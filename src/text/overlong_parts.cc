#include "text/overlong_parts.h"

#include <fmt/format.h>
#include <unicode/brkiter.h>
#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/utext.h>
#include <unicode/utf8.h>

#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>

#include "attend/error.h"

namespace attend {
namespace {

using Fits = std::function<bool(std::string_view)>;
// The places within a text where a part may begin, in order.
using Cuts = std::vector<size_t>;

void CheckIcu(UErrorCode status) {
  if (U_FAILURE(status)) {
    throw Error(ErrorKind::kRuntime,
                fmt::format("can't divide a sentence: ICU says {}; is its data installed?",
                            u_errorName(status)));
  }
}

// A comma and what divides clauses as it does, in any script.
bool EndsClause(UChar32 character) {
  constexpr std::u32string_view kMarks = U",;:\u2013\u2014\u060C\u061B\u3001\uFF0C\uFF1B\uFF1A";
  return kMarks.find(static_cast<char32_t>(character)) != std::u32string_view::npos;
}

// Calls use(place, character before, character at the place) within the text.
template <class Use>
void ForEachPlace(std::string_view text, const Use& use) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  const auto size = static_cast<int32_t>(text.size());
  UChar32 before = 0;
  for (int32_t next = 0; next < size;) {
    const int32_t place = next;
    UChar32 character = 0;
    U8_NEXT(bytes, next, size, character);
    if (place > 0) use(static_cast<size_t>(place), before, character);
    before = character;
  }
}

// Behind a mark that white space follows, or one of the CJK scripts, which have no such space.
Cuts CutsAtClauses(std::string_view text) {
  Cuts cuts;
  ForEachPlace(text, [&](size_t place, UChar32 before, UChar32 character) {
    if (EndsClause(before) && (before >= 0x3000 || u_isUWhiteSpace(character)))
      cuts.push_back(place);
  });
  return cuts;
}

Cuts CutsAtWhiteSpace(std::string_view text) {
  Cuts cuts;
  ForEachPlace(text, [&](size_t place, UChar32, UChar32 character) {
    if (u_isUWhiteSpace(character)) cuts.push_back(place);
  });
  return cuts;
}

using MakeBreaks = icu::BreakIterator* (*)(const icu::Locale&, UErrorCode&);

template <MakeBreaks make>
Cuts CutsAtBreaks(std::string_view text) {
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<icu::BreakIterator> breaks(make(icu::Locale::getRoot(), status));
  CheckIcu(status);
  const std::unique_ptr<UText, decltype(&utext_close)> utf8(
      utext_openUTF8(nullptr, text.data(), static_cast<int64_t>(text.size()), &status),
      &utext_close);
  CheckIcu(status);
  breaks->setText(utf8.get(), status);
  CheckIcu(status);
  Cuts cuts;
  breaks->first();
  for (int32_t end = breaks->next(); end != icu::BreakIterator::DONE; end = breaks->next()) {
    if (static_cast<size_t>(end) < text.size()) cuts.push_back(static_cast<size_t>(end));
  }
  return cuts;
}

Cuts CutsAtCodePoints(std::string_view text) {
  Cuts cuts;
  ForEachPlace(text, [&](size_t place, UChar32, UChar32) { cuts.push_back(place); });
  return cuts;
}

struct Level {
  Cuts (*cuts)(std::string_view);
  bool in_spans;  // it cuts spans too
};

// The first that leads to parts that fit is taken. Words of scripts without white space are
// ICU's.
constexpr Level kLevels[] = {{CutsAtClauses, false},
                             {CutsAtWhiteSpace, false},
                             {CutsAtBreaks<icu::BreakIterator::createWordInstance>, false},
                             {CutsAtBreaks<icu::BreakIterator::createCharacterInstance>, false},
                             {CutsAtBreaks<icu::BreakIterator::createCharacterInstance>, true},
                             {CutsAtCodePoints, true}};

class Divider {
 public:
  Divider(std::string_view text, const Fits& fits, const std::vector<TextPart>& spans)
      : text_(text), fits_(fits), spans_(spans) {}

  void Add(const TextPart& part, size_t level) {
    const std::string_view view = text_.substr(part.begin, part.end - part.begin);
    if (level == std::size(kLevels) || fits_(view)) return parts_.push_back(part);
    std::vector<TextPart> pieces;
    size_t begin = 0;
    Cuts cuts = kLevels[level].cuts(view);
    cuts.push_back(view.size());
    for (const size_t cut : cuts) {
      AddTrimmed(text_, part.begin + begin, part.begin + cut, &pieces);
      begin = cut;
    }
    if (!kLevels[level].in_spans) pieces = JoinAcross(pieces, spans_);
    for (const TextPart& group : GroupParts(text_, pieces, fits_)) Add(group, level + 1);
  }

  std::vector<TextPart> Parts() && {
    for (size_t i = 1; i < parts_.size(); ++i) {
      const size_t place = parts_[i].begin;
      parts_[i].in_word = parts_[i - 1].end == place && IsInWord(text_, place);
    }
    return std::move(parts_);
  }

 private:
  std::string_view text_;
  const Fits& fits_;
  const std::vector<TextPart>& spans_;
  std::vector<TextPart> parts_;
};

}  // namespace

std::vector<TextPart> FittingParts(std::string_view sentence, const Fits& fits,
                                   const std::vector<TextPart>& spans) {
  Divider divider(sentence, fits, spans);
  divider.Add({0, sentence.size()}, 0);
  return std::move(divider).Parts();
}

}  // namespace attend
