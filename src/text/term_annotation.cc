#include "text/term_annotation.h"

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "text/lines.h"
#include "text/span_masker.h"
#include "text/vocabulary_extension.h"

namespace attend {
namespace {

bool IsTermLetter(UChar32 character) {
  return u_isalpha(character) || (U_GET_GC_MASK(character) & U_GC_M_MASK) != 0;
}

// A white-space word from its first letter to its last.
struct InnerWord {
  size_t begin = 0, end = 0;  // bytes of the text; equal where there is nothing else
  int64_t letters = 0;
};

// A text's words, and the words of the other text that each has links to.
struct PhraseSide {
  std::string_view text;
  std::vector<InnerWord> words;
  std::vector<std::vector<int64_t>> links;

  explicit PhraseSide(std::string_view given) : text(given) {
    size_t begin = 0;
    for (const size_t end : WordEnds(text)) {
      InnerWord& word = words.emplace_back();
      while (begin < end) {
        UChar32 character;
        const size_t at = begin;
        U8_NEXT(text.data(), begin, end, character);
        if (!IsTermLetter(character)) continue;
        if (word.letters++ == 0) word.begin = at;
        word.end = begin;
      }
    }
    links.resize(words.size());
  }

  // The words' text where nothing but spaces, hyphens and apostrophes stands between its letters;
  // else nothing.
  std::string_view Phrase(int64_t first, int64_t last) const {
    const size_t begin = words[first].begin, end = words[last].end;
    for (size_t at = begin; at < end;) {
      UChar32 character;
      U8_NEXT(text.data(), at, end, character);
      constexpr std::u32string_view kInside = U" \t-'’";
      const auto inside = static_cast<char32_t>(character);
      if (!IsTermLetter(character) && kInside.find(inside) == kInside.npos) return {};
    }
    return text.substr(begin, end - begin);
  }
};

// The first and the last word that some words, the first of which has one, have links to.
std::pair<int64_t, int64_t> LinkedRange(const PhraseSide& side, int64_t begin, int64_t end) {
  std::pair<int64_t, int64_t> range = {side.links[begin][0], side.links[begin][0]};
  for (int64_t word = begin; word <= end; ++word) {
    for (const int64_t other : side.links[word])
      range = {std::min(range.first, other), std::max(range.second, other)};
  }
  return range;
}

// Found in a translation where a target of the term is.
GlossaryTerm AsTarget(const GlossaryTerm& term) {
  return {.source = term.keep ? term.source : term.target,
          .target = term.target,
          .ignore_case = true,
          .inflect_source = term.inflect,
          .inflect = term.inflect,
          .keep = term.keep};
}

std::vector<GlossaryTerm> AsTargets(const std::vector<GlossaryTerm>& terms) {
  std::vector<GlossaryTerm> targets;
  for (const GlossaryTerm& term : terms) targets.push_back(AsTarget(term));
  return targets;
}

}  // namespace

std::vector<int32_t> TermTokenIds(const Vocabulary& vocabulary) {
  std::vector<int32_t> ids;
  for (const std::string_view token : {kTermBegin, kTermIs, kTermEnd}) {
    const std::optional<int32_t> id = IdOfToken(vocabulary, std::string(token));
    if (!id) return {};
    ids.push_back(*id);
  }
  return ids;
}

AnnotatedText WithTerms(std::string_view text, std::span<const FoundTerm> terms) {
  const auto is_space = [&](size_t at) { return text[at] == ' ' || text[at] == '\t'; };
  std::string annotated;
  std::vector<ReplacedPart> places;
  size_t done = 0;
  for (const FoundTerm& term : terms) {
    annotated += text.substr(done, term.begin - done);
    size_t begin = annotated.size();
    const bool joined = term.begin > 0 && !is_space(term.begin - 1);
    annotated += fmt::format("{}{} ", joined ? " " : "", kTermBegin);
    places.push_back({{begin, annotated.size()}, {term.begin, term.begin}});
    annotated += text.substr(term.begin, term.end - term.begin);
    // What stands behind it belongs to its last word.
    begin = annotated.size() - 1;
    const bool goes_on = term.end < text.size() && !is_space(term.end);
    annotated +=
        fmt::format(" {} {} {}{}", kTermIs, term.targets[0].text, kTermEnd, goes_on ? " " : "");
    places.push_back({{begin, annotated.size()}, {term.end - 1, term.end}});
    done = term.end;
  }
  annotated += text.substr(done);
  std::vector<int64_t> words = WordsAfter(annotated, text, places);
  return {std::move(annotated), std::move(words)};
}

PairTerms::PairTerms(std::shared_ptr<const Glossary> glossary)
    : glossary_(std::move(glossary)), targets_(AsTargets(glossary_->terms())) {}

std::vector<FoundTerm> PairTerms::Find(std::string_view source, std::string_view target) const {
  std::vector<TermTarget> there;
  for (const FoundTerm& found : targets_.Find(target))
    there.insert(there.end(), found.targets.begin(), found.targets.end());
  std::vector<FoundTerm> kept;
  for (FoundTerm& term : glossary_->finder().Find(source)) {
    std::erase_if(term.targets, [&](const TermTarget& one) {
      return std::ranges::find(there, one) == there.end();
    });
    if (!term.targets.empty()) kept.push_back(std::move(term));
  }
  return kept;
}

std::vector<FoundTerm> PhrasesOfPair(std::string_view source, std::string_view target,
                                     const AlignmentLinks& links) {
  PhraseSide from(source), to(target);
  for (const auto& [word, other] : links) {
    from.links[word].push_back(other);
    to.links[other].push_back(word);
  }
  const auto may_end = [&](int64_t word) {
    return from.words[word].letters >= kPhraseLetters && !from.links[word].empty();
  };
  std::vector<FoundTerm> phrases;
  for (int64_t first = 0; first < std::ssize(from.words); ++first) {
    if (!may_end(first)) continue;
    const int64_t end = std::min(first + kPhraseWords, std::ssize(from.words));
    for (int64_t last = first; last < end; ++last) {
      if (!may_end(last)) continue;
      const auto [there, there_end] = LinkedRange(from, first, last);
      if (there_end - there >= kPhraseWords) continue;
      if (to.words[there].letters == 0 || to.words[there_end].letters == 0) continue;
      const auto [back, back_end] = LinkedRange(to, there, there_end);
      if (back < first || back_end > last) continue;
      const std::string_view phrase = from.Phrase(first, last),
                             written = to.Phrase(there, there_end);
      if (phrase.empty() || written.empty()) continue;
      const size_t begin = from.words[first].begin;
      phrases.push_back({begin, begin + phrase.size(), {{std::string(written)}}});
    }
  }
  return phrases;
}

std::vector<FoundTerm> DrawTerms(std::vector<FoundTerm> terms, int64_t most, Random* random) {
  const auto count = static_cast<int64_t>(random->Below(most)) + 1;
  random->Shuffle(&terms);
  std::vector<FoundTerm> drawn;
  for (FoundTerm& term : terms) {
    if (std::ssize(drawn) == count) break;
    const bool free = std::ranges::none_of(drawn, [&](const FoundTerm& other) {
      return term.begin < other.end && other.begin < term.end;
    });
    if (free) drawn.push_back(std::move(term));
  }
  std::ranges::sort(drawn, {}, &FoundTerm::begin);
  return drawn;
}

}  // namespace attend
