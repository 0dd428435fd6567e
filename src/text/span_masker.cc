#include "text/span_masker.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <optional>

#include "text/ascii.h"
#include "text/lines.h"
#include "text/numbered_tokens.h"
#include "text/words.h"

namespace attend {
namespace {

constexpr std::string_view kOpen = "⟦", kClose = "⟧";

struct Placeholder {
  TextPart place;
  int64_t number = 0;
};

// The first placeholder at or after `from`.
std::optional<Placeholder> NextPlaceholder(std::string_view text, size_t from) {
  while ((from = text.find(kOpen, from)) != text.npos) {
    const char* first = text.data() + from + kOpen.size();
    const char* last = text.data() + text.size();
    int64_t number = 0;
    const auto [end, status] = std::from_chars(first, last, number);
    const auto at = static_cast<size_t>(end - text.data());
    if (status == std::errc() && *first != '-' && text.substr(at).starts_with(kClose))
      return Placeholder{{from, at + kClose.size()}, number};
    from += kOpen.size();
  }
  return std::nullopt;
}

std::string_view ViewOf(std::string_view text, const TextPart& part) {
  return text.substr(part.begin, part.end - part.begin);
}

// A period or comma between two spans reads as part of one number: 3.1. `before` ends in it.
bool RunsOn(std::string_view before, std::string_view between, std::string_view span) {
  if (between != "." && between != ",") return false;
  return JoinsAtEnd(before.substr(0, before.size() - 1)) && JoinsAtStart(span);
}

// Until there are at most `most`.
void JoinNeighbours(std::string_view text, size_t most, std::vector<TextPart>* spans) {
  const auto no_word_between = [&](const TextPart& a, const TextPart& b) {
    for (size_t at = a.end; at < b.begin; ++at) {
      if (static_cast<unsigned char>(text[at]) >= 0x80) return false;
      if (JoinsAtStart(text.substr(at, b.begin - at))) return false;
    }
    return true;
  };
  std::vector<TextPart> joined;
  size_t left = spans->size();
  for (const TextPart& span : *spans) {
    if (left > most && !joined.empty() && no_word_between(joined.back(), span)) {
      joined.back().end = span.end;
      --left;
    } else {
      joined.push_back(span);
    }
  }
  *spans = std::move(joined);
}

// A placeholder's text that stands for nothing loses its brackets.
void AppendWithoutPlaceholders(std::string_view text, const TextPart& part, std::string* plain,
                               std::vector<ReplacedPart>* places) {
  size_t done = part.begin;
  const std::string_view whole = text.substr(0, part.end);
  while (const auto next = NextPlaceholder(whole, done)) {
    *plain += whole.substr(done, next->place.begin - done);
    const size_t begin = plain->size();
    *plain += std::to_string(next->number);
    if (places != nullptr) places->push_back({{begin, plain->size()}, next->place});
    done = next->place.end;
  }
  *plain += whole.substr(done);
}

// The text with these parts of it as placeholders, and no other ones.
std::string WithPlaceholders(std::string_view text, const std::vector<TextPart>& spans,
                             const std::vector<int64_t>& numbers,
                             std::vector<ReplacedPart>* places) {
  std::string masked;
  size_t done = 0;
  for (size_t i = 0; i < spans.size(); ++i) {
    AppendWithoutPlaceholders(text, {done, spans[i].begin}, &masked, places);
    const size_t begin = masked.size();
    masked += PlaceholderText(numbers[i]);
    if (places != nullptr) places->push_back({{begin, masked.size()}, spans[i]});
    done = spans[i].end;
  }
  AppendWithoutPlaceholders(text, {done, text.size()}, &masked, places);
  return masked;
}

// The same of those spans that have a number.
std::string WithNumbers(std::string_view text, const std::vector<TextPart>& spans,
                        const std::map<size_t, int64_t>& by_span,
                        std::vector<ReplacedPart>* places) {
  std::vector<TextPart> parts;
  std::vector<int64_t> numbers;
  for (const auto& [span, number] : by_span) {
    parts.push_back(spans[span]);
    numbers.push_back(number);
  }
  return WithPlaceholders(text, parts, numbers, places);
}

// White-space words with a letter or digit and without placeholders.
std::vector<TextPart> PlainWords(std::string_view text) {
  std::vector<TextPart> words;
  size_t begin = 0;
  for (const size_t end : WordEnds(text)) {
    begin = text.find_first_not_of(" \t", begin);
    TextPart word{begin, end};
    while (word.end > word.begin &&
           std::string_view(".,;:!?").find(text[word.end - 1]) != text.npos)
      --word.end;
    if (word.begin < word.end && JoinsAtStart(ViewOf(text, word)) &&
        ViewOf(text, word).find(kOpen) == text.npos)
      words.push_back(word);
    begin = end;
  }
  return words;
}

// Words of each side, once each in both: the first side's and the second's.
std::vector<std::pair<TextPart, TextPart>> SharedWords(std::string_view source,
                                                       std::string_view target) {
  const auto by_text = [](std::string_view text) {
    std::map<std::string, std::vector<TextPart>> words;
    for (const TextPart& word : PlainWords(text))
      words[LowerCase(ViewOf(text, word))].push_back(word);
    return words;
  };
  const auto in_source = by_text(source), in_target = by_text(target);
  std::vector<std::pair<TextPart, TextPart>> shared;
  for (const auto& [word, places] : in_source) {
    const auto other = in_target.find(word);
    if (places.size() == 1 && other != in_target.end() && other->second.size() == 1)
      shared.emplace_back(places[0], other->second[0]);
  }
  return shared;
}

// Before the punctuation that ends the text, and the space before that.
size_t EndOfWords(std::string_view text) {
  size_t end = text.size();
  while (end > 0 && std::string_view(" .!?").find(text[end - 1]) != std::string_view::npos) --end;
  return end;
}

void InsertAround(const std::string& placeholder, uint64_t form, std::string* text) {
  switch (form) {
    case 0:
      *text = placeholder + ' ' + *text;
      break;
    case 1:
      *text = placeholder + ": " + *text;
      break;
    case 2:
      text->insert(EndOfWords(*text), " (" + placeholder + ')');
      break;
    case 3:
      text->insert(EndOfWords(*text), " \"" + placeholder + '"');
      break;
    default:
      text->insert(EndOfWords(*text), ' ' + placeholder);
  }
}

}  // namespace

std::string PlaceholderText(int64_t number) { return fmt::format("{}{}{}", kOpen, number, kClose); }

std::vector<int32_t> PlaceholderIds(const Vocabulary& vocabulary) {
  return NumberedIds(vocabulary, PlaceholderText);
}

SpanMasker::SpanMasker(const ProtectionOptions& options, int64_t placeholders)
    : finder_(options), placeholders_(placeholders) {}

std::vector<TextPart> SpanMasker::Find(std::string_view text) const {
  const std::vector<TextPart> found = finder_.Find(text);
  std::vector<TextPart> spans;
  auto next = found.begin();
  for (size_t from = 0; const auto literal = NextPlaceholder(text, from);) {
    const TextPart place = literal->place;
    from = place.end;
    while (next != found.end() && next->end <= place.begin) spans.push_back(*next++);
    if (next != found.end() && next->begin <= place.begin && place.end <= next->end) continue;
    while (next != found.end() && next->begin < place.end) ++next;  // it overlaps
    spans.push_back(place);
  }
  spans.insert(spans.end(), next, found.end());
  return spans;
}

MaskedText SpanMasker::Mask(std::string_view text) const {
  MaskedText masked;
  std::vector<TextPart> spans = Find(text);
  JoinNeighbours(text, static_cast<size_t>(placeholders_), &spans);
  masked.found = std::ssize(spans);
  spans.resize(std::min(masked.found, placeholders_));
  for (size_t i = 0; i < spans.size(); ++i) {
    const TextPart& span = spans[i];
    masked.spans.push_back({std::string(ViewOf(text, span)), JoinsAtEnd(text.substr(0, span.begin)),
                            JoinsAtStart(text.substr(span.end)),
                            i > 0 && spans[i - 1].end == span.begin,
                            i + 1 < spans.size() && spans[i + 1].begin == span.end});
  }
  std::vector<int64_t> numbers(spans.size());
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  masked.text = WithPlaceholders(text, spans, numbers, &masked.places);
  return masked;
}

RestoredText SpanMasker::Restore(const MaskedText& masked, std::string_view output) {
  RestoredText restored;
  std::vector<int64_t> times(masked.spans.size());
  bool stands_alone = false;  // what was added last is a span that no word ran on behind
  bool stands_apart = false;  // and no other span
  const auto add = [&](std::string_view text) {
    if (stands_alone && JoinsAtEnd(restored.text) && JoinsAtStart(text)) restored.text += ' ';
    if (!text.empty()) stands_alone = stands_apart = false;
    restored.text += text;
  };
  size_t done = 0;
  std::optional<Placeholder> last;
  for (auto next = NextPlaceholder(output, 0); next; next = NextPlaceholder(output, done)) {
    const std::string_view between = output.substr(done, next->place.begin - done);
    add(between);
    done = next->place.end;
    if (next->number >= std::ssize(masked.spans)) continue;  // stands for nothing
    const MaskedText::Span& span = masked.spans[next->number];
    const bool glued =
        (stands_apart && !span.touched_before) ||
        (last && RunsOn(restored.text, between, span.text) &&
         masked.text.find(ViewOf(output, {last->place.begin, done})) == masked.text.npos);
    last = next;
    if (!span.joined_before && (glued || (JoinsAtEnd(restored.text) && JoinsAtStart(span.text))))
      restored.text += ' ';
    add(span.text);
    const size_t end = restored.text.size();
    restored.places.push_back({next->place, {end - span.text.size(), end}});
    stands_alone = !span.joined_after;
    stands_apart = stands_alone && !span.touched_after;
    ++times[next->number];
  }
  add(output.substr(done));
  restored.kept = std::count(times.begin(), times.end(), 1);
  return restored;
}

std::vector<int64_t> SpanMasker::Numbers(std::string_view used, Random* random) const {
  std::vector<bool> taken(placeholders_);
  for (size_t from = 0; const auto next = NextPlaceholder(used, from);) {
    from = next->place.end;
    if (next->number < placeholders_) taken[next->number] = true;
  }
  std::vector<int64_t> numbers;
  for (int64_t number = 0; number < placeholders_; ++number) {
    if (!taken[number]) numbers.push_back(number);
  }
  if (random != nullptr) random->Shuffle(&numbers);
  return numbers;
}

PairSpans SpanMasker::MaskPair(std::string* source, std::string* target, Random* random,
                               PairPlaces* places) const {
  const std::vector<TextPart> of_source = Find(*source), of_target = Find(*target);
  std::map<std::string_view, std::vector<size_t>> in_source, in_target;  // by text
  for (size_t i = 0; i < of_source.size(); ++i)
    in_source[ViewOf(*source, of_source[i])].push_back(i);
  for (size_t i = 0; i < of_target.size(); ++i)
    in_target[ViewOf(*target, of_target[i])].push_back(i);
  const std::vector<int64_t> numbers = Numbers("", random);
  std::map<size_t, int64_t> source_number, target_number;  // by span
  PairSpans counts;
  for (size_t i = 0; i < of_source.size(); ++i) {
    const std::string_view text = ViewOf(*source, of_source[i]);
    const std::vector<size_t>& here = in_source[text];
    const auto there = in_target.find(text);
    if (there == in_target.end() || there->second.size() != here.size() ||
        counts.masked == std::ssize(numbers)) {
      ++counts.unequal;
      continue;
    }
    const auto rank = std::find(here.begin(), here.end(), i) - here.begin();
    source_number[i] = target_number[there->second[rank]] = numbers[counts.masked++];
  }
  *source = WithNumbers(*source, of_source, source_number, places ? &places->source : nullptr);
  *target = WithNumbers(*target, of_target, target_number, places ? &places->target : nullptr);
  return counts;
}

std::string SpanMasker::MaskBeginning(const MaskedText& source, std::string_view beginning) const {
  const std::vector<TextPart> found = Find(beginning);
  std::map<size_t, int64_t> numbers;  // by span
  std::vector<bool> used(source.spans.size());
  for (size_t i = 0; i < found.size(); ++i) {
    for (size_t number = 0; number < used.size(); ++number) {
      if (used[number] || source.spans[number].text != ViewOf(beginning, found[i])) continue;
      used[number] = true;
      numbers[i] = static_cast<int64_t>(number);
      break;
    }
  }
  return WithNumbers(beginning, found, numbers, nullptr);
}

void SpanMasker::AddPlaceholders(std::string* source, std::string* target, Random* random) const {
  constexpr uint64_t kMostWords = 2, kMostInserted = 3, kForms = 6;
  std::vector<int64_t> numbers = Numbers(*source, random);
  const auto next = [&] {
    const std::string placeholder = PlaceholderText(numbers.back());
    numbers.pop_back();
    return placeholder;
  };
  std::vector<std::pair<TextPart, TextPart>> words = SharedWords(*source, *target);
  random->Shuffle(&words);
  words.resize(std::min<size_t>({words.size(), 1 + random->Below(kMostWords), numbers.size()}));
  std::map<size_t, std::pair<TextPart, std::string>, std::greater<>> in_source, in_target;
  for (const auto& [here, there] : words) {
    const std::string placeholder = next();
    in_source[here.begin] = {here, placeholder};
    in_target[there.begin] = {there, placeholder};
  }
  const auto replace = [](const auto& parts, std::string* text) {  // from the last to the first
    for (const auto& [begin, part] : parts)
      text->replace(begin, part.first.end - begin, part.second);
  };
  replace(in_source, source);
  replace(in_target, target);
  const uint64_t inserted = words.empty() ? 1 + random->Below(kMostInserted) : random->Below(2);
  for (uint64_t i = 0; i < inserted && !numbers.empty(); ++i) {
    const std::string placeholder = next();
    const uint64_t form = random->Below(kForms);
    InsertAround(placeholder, form, source);
    InsertAround(placeholder, form, target);
  }
}

std::vector<int64_t> WordsAfter(std::string_view from, std::string_view to,
                                const std::vector<ReplacedPart>& places) {
  const std::vector<size_t> ends = WordEnds(to);
  std::vector<int64_t> words;
  size_t begin = 0;
  auto place = places.begin();
  for (const size_t end : WordEnds(from)) {
    begin = from.find_first_not_of(" \t", begin);
    while (place != places.end() && place->from.end <= begin) ++place;
    size_t there = begin;
    if (place != places.end() && place->from.begin <= begin) {
      there = place->to.begin;
    } else if (place != places.begin()) {
      there = begin - std::prev(place)->from.end + std::prev(place)->to.end;
    }
    const int64_t word = std::upper_bound(ends.begin(), ends.end(), there) - ends.begin();
    words.push_back(std::min(word, std::ssize(ends) - 1));
    begin = end;
  }
  return words;
}

}  // namespace attend
