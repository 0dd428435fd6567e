#include "text/term_finder.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <utility>

#include "text/case_marks.h"
#include "text/text_normalizer.h"
#include "text/utf8.h"
#include "text/words.h"

namespace attend {
namespace {

bool IsSpace(char32_t character) { return u_isUWhiteSpace(static_cast<UChar32>(character)); }

char32_t Folded(char32_t character) {
  return static_cast<char32_t>(u_foldCase(static_cast<UChar32>(character), U_FOLD_CASE_DEFAULT));
}

// A word goes on from the character before `place` to the one after it.
bool InWord(std::u32string_view text, size_t place) {
  return place > 0 && place < text.size() && JoinsWords(text[place - 1]) && JoinsWords(text[place]);
}

}  // namespace

TermFinder::Characters TermFinder::CharactersOf(std::string_view text) {
  TrackedText tracked(text, 0, text.size(), /*track=*/true);
  Normalize({NormalizerStep::kNfc}, &tracked);
  Characters characters;
  const std::u32string all = CodePoints(tracked.text());
  size_t at = 0;
  for (const char32_t character : all) {
    // A run of white space is one space, where its first character stands.
    const bool space = IsSpace(character);
    if (!space || characters.text.empty() || characters.text.back() != U' ') {
      characters.text += space ? U' ' : character;
      characters.begins.push_back(tracked.OriginOf(at));
    }
    at += U8_LENGTH(static_cast<UChar32>(character));
  }
  characters.begins.push_back(text.size());
  return characters;
}

std::u32string TermFinder::KeyOf(std::u32string_view text) {
  std::u32string key;
  for (const char32_t character : text) {
    if (!key.empty() && !(JoinsWords(key.back()) && JoinsWords(character))) break;
    key += Folded(character);
  }
  return key;
}

TermFinder::TermFinder(std::span<const GlossaryTerm> terms) {
  for (const GlossaryTerm& term : terms) {
    std::u32string source = CharactersOf(RepairUtf8(term.source)).text;
    if (source.starts_with(U' ')) source.erase(0, 1);
    if (source.ends_with(U' ')) source.pop_back();
    by_key_[KeyOf(source)].push_back(entries_.size());
    entries_.push_back({std::move(source),
                        {RepairUtf8(term.target), term.inflect},
                        term.ignore_case,
                        term.inflect_source,
                        term.keep});
  }
}

size_t TermFinder::EndOf(const Entry& entry, std::u32string_view text, size_t begin) {
  const std::u32string_view source = entry.source, found = text.substr(begin, source.size());
  const bool equal =
      entry.ignore_case ? std::ranges::equal(source, found, {}, Folded, Folded) : source == found;
  if (!equal) return 0;
  size_t end = begin + source.size();
  for (int64_t more = 0; entry.inflect && more < kMostEnding && InWord(text, end); ++more) ++end;
  return InWord(text, end) ? 0 : end;
}

std::vector<FoundTerm> TermFinder::Find(std::string_view text) const {
  std::vector<FoundTerm> found;
  if (entries_.empty()) return found;
  const Characters characters = CharactersOf(text);
  const std::u32string_view all = characters.text;
  for (size_t begin = 0; begin < all.size();) {
    size_t longest = 0;
    std::vector<size_t> here;  // entries that end there
    std::u32string key = InWord(all, begin) ? U"" : KeyOf(all.substr(begin));
    // A term of one word may be found in an inflected form, which is longer.
    for (int64_t less = 0; less <= kMostEnding && !key.empty(); ++less, key.pop_back()) {
      const auto entries = by_key_.find(key);
      if (entries == by_key_.end()) continue;
      for (const size_t i : entries->second) {
        const size_t end = EndOf(entries_[i], all, begin);
        if (end > longest) here.clear();
        if (end > 0 && end >= longest) here.push_back(i);
        longest = std::max(longest, end);
      }
    }
    if (here.empty()) {
      ++begin;
      continue;
    }
    FoundTerm term{characters.begins[begin], characters.begins[longest], {}};
    std::ranges::sort(here);
    for (const size_t i : here) {
      TermTarget target = entries_[i].target;
      if (entries_[i].keep) target.text = text.substr(term.begin, term.end - term.begin);
      if (std::ranges::find(term.targets, target) == term.targets.end())
        term.targets.push_back(std::move(target));
    }
    found.push_back(std::move(term));
    begin = longest;
  }
  return found;
}

int64_t CountTerms(std::span<const FoundTerm> terms, std::string_view translation) {
  const std::string text = RepairUtf8(translation);
  int64_t kept = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    const auto& targets = terms[i].targets;
    const auto same = [&](const FoundTerm& other) { return other.targets == targets; };
    if (std::ranges::any_of(terms.first(i), same)) continue;
    std::vector<GlossaryTerm> written;
    for (const TermTarget& target : targets) {
      for (const std::string& way : {target.text, Capitalised(target.text)})
        written.push_back({.source = way, .target = "", .inflect_source = target.inflect});
    }
    const int64_t here = std::ssize(TermFinder(written).Find(text));
    kept += std::min<int64_t>(here, std::ranges::count_if(terms, same));
  }
  return kept;
}

}  // namespace attend
