#include "html/document.h"

#include <unicode/utf8.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "html/spaces.h"
#include "html/words.h"

namespace attend {
namespace {

constexpr int kMostPairs = 100;  // of the same brackets in a sentence, to tell them apart

std::string Escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

// Writes one segment.
class HtmlDocument::Writer {
 public:
  explicit Writer(const Segment& segment)
      : segment_(segment), used_(segment.elements.size()), opened_(segment.elements.size()) {
    for (const Mark& mark : segment.marks) Use(StackAt(mark.inside));
  }

  void AddSentence(const TextPart& part, const Hypothesis& hypothesis) {
    Sentence& sentence = sentences_.emplace_back(Sentence{part, &hypothesis, {}, {}, {}});
    const std::string_view source(segment_.text);
    sentence.source = WordsOf(source.substr(part.begin, part.end - part.begin));
    sentence.target = WordsOf(hypothesis.text);
    sentence.links.assign(sentence.target.size(), -1);
    if (hypothesis.alignment.empty()) LinkInOrder(&sentence);
    for (const AlignmentLink& link : hypothesis.alignment) {
      const bool known = link.target >= 0 && link.target < std::ssize(sentence.links) &&
                         link.source >= 0 && link.source < std::ssize(sentence.source);
      if (known) sentence.links[link.target] = link.source;
    }
    for (Word& word : sentence.source) {
      for (size_t* at : {&word.begin, &word.core_begin, &word.core_end, &word.end})
        *at += part.begin;
    }
    for (size_t t = 0; t < sentence.target.size(); ++t) {
      for (const Piece& piece : PiecesOf(sentence, t, {})) Use(piece.stack);
    }
  }

  std::string Write() {
    marks_ = segment_.marks;
    for (size_t e = 0; e < used_.size(); ++e) {  // no word of it is left: it stays, empty
      const Element& element = segment_.elements[e];
      if (used_[e] || InGap(element)) continue;
      marks_.push_back({.at = element.begin, .html = "", .inside = e});
    }
    const auto before = [](const Mark& a, const Mark& b) { return a.at < b.at; };
    std::stable_sort(marks_.begin(), marks_.end(), before);
    size_t done = 0;
    for (const Sentence& sentence : sentences_) {
      WriteGap(done, sentence.part.begin);
      if (done > 0 && done == sentence.part.begin && !sentence.part.in_word) {
        PutText(Joint(shown_, "", sentence.hypothesis->text),
                Shared(open_, Around(done, done + 1)));
      }
      WriteSentence(sentence);
      done = sentence.part.end;
    }
    WriteGap(done, segment_.text.size());
    WriteMarks(segment_.text.size());
    Put("", {});
    return std::move(html_);
  }

 private:
  using Stack = std::vector<size_t>;  // elements that are open, the innermost last
  struct Sentence {
    TextPart part;
    const Hypothesis* hypothesis;
    std::vector<Word> source, target;  // the source's by bytes of the segment
    std::vector<int64_t> links;        // the source word of each target word, or -1
  };
  // Of a sentence without alignment, such as one of a memory: its words go in the same order.
  static void LinkInOrder(Sentence* sentence) {
    const size_t sources = sentence->source.size(), targets = sentence->target.size();
    for (size_t t = 0; t < targets && sources > 0; ++t)
      sentence->links[t] = static_cast<int64_t>(t * sources / targets);
  }
  // Of a target word.
  struct Piece {
    std::string_view text;
    Stack stack;
  };
  // Where a mark goes in a sentence.
  struct PlacedMark {
    const Mark* mark;
    size_t at;    // byte of the target text
    bool linked;  // what it touches there is the translation of what it touched
    // Of those at one byte, first come those that touch the word before it, last those that touch
    // the word behind it.
    int order() const { return !linked ? 1 : touches_before ? 0 : 2; }
    bool touches_before = false;
  };

  Stack StackAt(size_t innermost) const {
    Stack stack;
    for (size_t e = innermost; e != kNone; e = segment_.elements[e].inside) stack.push_back(e);
    std::ranges::reverse(stack);
    return stack;
  }

  void Use(const Stack& stack) {
    for (const size_t element : stack) used_[element] = true;
  }

  // The elements around the first of these bytes that has one.
  Stack Around(size_t begin, size_t end) const {
    Stack stack;
    size_t at = end;
    for (const Element& element : segment_.elements) {
      if (element.begin < end && element.end > begin)
        at = std::min(at, std::max(element.begin, begin));
    }
    for (size_t e = 0; e < segment_.elements.size(); ++e) {
      const Element& element = segment_.elements[e];
      if (element.begin <= at && at < element.end && at < end) stack.push_back(e);
    }
    return stack;
  }

  // A word that is its source's has its tags where they were; of another the punctuation has those
  // of the source's. `before` is what stands around the word before, and so around one that is
  // linked to none.
  std::vector<Piece> PiecesOf(const Sentence& sentence, size_t t, const Stack& before) const {
    const Word& target = sentence.target[t];
    const std::string_view text(sentence.hypothesis->text);
    const auto part = [&](size_t begin, size_t end) { return text.substr(begin, end - begin); };
    if (sentence.links[t] < 0) return {{part(target.begin, target.end), before}};
    const Word& source = sentence.source[sentence.links[t]];
    const std::string_view own =
        std::string_view(segment_.text).substr(source.begin, source.end - source.begin);
    std::vector<Piece> pieces;
    if (own == part(target.begin, target.end)) {
      for (size_t at = source.begin, next; at < source.end; at = next) {
        next = NextBorder(at, source.end);
        pieces.push_back({own.substr(at - source.begin, next - at), Around(at, at + 1)});
      }
      return pieces;
    }
    const Stack core = Around(source.core_begin, source.core_end);
    const bool lead = source.begin < source.core_begin, tail = source.core_end < source.end;
    if (target.begin < target.core_begin) {
      pieces.push_back({part(target.begin, target.core_begin),
                        lead ? Around(source.begin, source.begin + 1) : core});
    }
    pieces.push_back({part(target.core_begin, target.core_end), core});
    if (target.core_end < target.end) {
      pieces.push_back(
          {part(target.core_end, target.end), tail ? Around(source.end - 1, source.end) : core});
    }
    return pieces;
  }

  // The element holds white space between sentences, and nothing else.
  bool InGap(const Element& element) const {
    return element.begin < element.end && std::ranges::none_of(
                                              sentences_,
                                              [&](const Sentence& sentence) {
                                                return element.begin < sentence.part.end &&
                                                       element.end > sentence.part.begin;
                                              });
  }

  static Stack Shared(const Stack& a, const Stack& b) {
    return {a.begin(), std::ranges::mismatch(a, b).in1};
  }

  void Put(std::string_view html, const Stack& stack) {
    const size_t same = Shared(open_, stack).size();
    for (; open_.size() > same; open_.pop_back()) html_ += segment_.elements[open_.back()].close;
    for (size_t i = same; i < stack.size(); ++i) {
      const Element& element = segment_.elements[stack[i]];
      html_ += opened_[stack[i]] ? element.open_again : element.open;
      opened_[stack[i]] = true;
      open_.push_back(stack[i]);
    }
    html_ += html;
  }

  void Put(const Mark& mark) {
    Put(mark.html, StackAt(mark.inside));
    shown_ += mark.shown;
  }

  void PutText(std::string_view text, const Stack& stack) {
    if (text.empty()) return;
    Put(Escape(text), stack);
    shown_ += text;
  }

  void WriteGap(size_t begin, size_t end) {
    for (size_t at = begin; at < end;) {
      WriteMarks(at);
      const size_t next = NextBorder(at, end);
      PutText(std::string_view(segment_.text).substr(at, next - at), Around(at, at + 1));
      at = next;
    }
  }

  // The next byte, at most `end`, at which an element begins or ends or a mark stands.
  size_t NextBorder(size_t at, size_t end) const {
    const auto look = [&](size_t border) {
      if (border > at) end = std::min(end, border);
    };
    for (const Element& element : segment_.elements) look(element.begin), look(element.end);
    const auto mark = std::ranges::upper_bound(segment_.marks, at, {}, &Mark::at);
    if (mark != segment_.marks.end()) look(mark->at);
    return end;
  }

  // Those that stand at or before a byte of the source, between sentences.
  void WriteMarks(size_t at) {
    for (; next_mark_ < marks_.size() && marks_[next_mark_].at <= at; ++next_mark_) {
      const Mark& mark = marks_[next_mark_];
      if (!mark.shown.empty() && NeedsSpace({&mark, 0, true}))
        PutText(" ", Shared(open_, StackAt(mark.inside)));
      Put(mark);
    }
  }

  std::string_view SourceBefore(const Mark& mark) const {
    return std::string_view(segment_.text).substr(0, mark.at);
  }
  std::string_view SourceBehind(const Mark& mark) const {
    return std::string_view(segment_.text).substr(mark.at);
  }

  // The target word before which a mark stands: the first of what stood behind it.
  static size_t TargetOf(const Sentence& sentence, size_t at) {
    const auto behind = [&](int64_t link) {
      return link >= 0 && sentence.source[link].begin >= at;
    };
    return std::ranges::find_if(sentence.links, behind) - sentence.links.begin();
  }

  PlacedMark PlacedMarkOf(const Sentence& sentence, const Mark& mark) const {
    if (const auto at = BesideItsWord(sentence, mark))
      return {&mark, *at, true, mark.at > sentence.part.begin && !mark.behind_space};
    const size_t t = TargetOf(sentence, mark.at), words = sentence.target.size();
    if (t > 0 && mark.sticks) return {&mark, sentence.target[t - 1].end, false};
    if (const auto at = BesideItsPunctuation(sentence, mark, t)) return {&mark, *at, false};
    return {&mark, t < words ? sentence.target[t].begin : sentence.hypothesis->text.size(), false};
  }

  // Punctuation that touched the mark may stand at the word before or behind it.
  std::optional<size_t> BesideItsPunctuation(const Sentence& sentence, const Mark& mark,
                                             size_t t) const {
    if (t > 0) {
      const size_t at = sentence.target[t - 1].core_end;
      if (TouchesInTarget(sentence, mark, at)) return at;
    }
    const auto next = std::ranges::lower_bound(sentence.source, mark.at, {}, &Word::begin);
    const auto link = std::ranges::find(sentence.links, next - sentence.source.begin());
    if (link == sentence.links.end()) return std::nullopt;
    const size_t at = sentence.target[link - sentence.links.begin()].core_begin;
    const std::string_view lead = std::string_view(sentence.hypothesis->text).substr(0, at);
    if (TouchesAlikeAtEnd(SourceBefore(mark), lead, false)) return at;
    return std::nullopt;
  }

  // Punctuation touches the mark at this byte of the target text as it did in the source.
  bool TouchesInTarget(const Sentence& sentence, const Mark& mark, size_t at) const {
    return TouchesAlikeAtStart(SourceBehind(mark),
                               std::string_view(sentence.hypothesis->text).substr(at), false);
  }

  // Where a mark that touches a word stands in the word's translation; none where it touches none
  // that has one.
  std::optional<size_t> BesideItsWord(const Sentence& sentence, const Mark& mark) const {
    const auto word = std::ranges::lower_bound(sentence.source, mark.at, {}, &Word::end);
    if (mark.html.empty() || word == sentence.source.end() || word->begin > mark.at)
      return std::nullopt;
    const int64_t number = word - sentence.source.begin();
    const auto first = std::ranges::find(sentence.links, number);
    const auto last = std::find(sentence.links.rbegin(), sentence.links.rend(), number);
    const bool inside = word->begin < mark.at && mark.at < word->end;
    if (first != sentence.links.end()) {
      const bool leads = mark.at <= word->core_begin && mark.at < word->end;
      const Word& target =
          sentence
              .target[leads ? first - sentence.links.begin() : sentence.links.rend() - last - 1];
      const size_t length = word->end - word->begin;
      const bool copied = length == target.end - target.begin &&
                          segment_.text.compare(word->begin, length, sentence.hypothesis->text,
                                                target.begin, length) == 0;
      if (copied) return target.begin + (mark.at - word->begin);
      if (inside) {
        if (const auto at = InPunctuation(sentence, mark)) return at;
      }
      return AtItsCore(sentence, *word, target, mark);
    }
    return inside ? InPunctuation(sentence, mark) : std::nullopt;
  }

  // In a word's translation that is another word: before or behind its core.
  std::optional<size_t> AtItsCore(const Sentence& sentence, const Word& source, const Word& target,
                                  const Mark& mark) const {
    const std::string_view text(sentence.hypothesis->text);
    const bool letters = IsCored(segment_.text, source), alike = letters == IsCored(text, target);
    if (mark.at == source.begin) {
      if (alike) return source.begin < source.core_begin ? target.begin : target.core_begin;
      if (TouchesInTarget(sentence, mark, target.core_end)) return target.core_end;
      return std::nullopt;
    }
    if (!alike) {
      const std::string_view lead = text.substr(0, target.core_begin);
      if (TouchesAlikeAtEnd(SourceBefore(mark), lead, false)) return target.core_begin;
      return std::nullopt;
    }
    if (mark.at <= source.core_begin) return target.core_begin;
    return mark.at <= source.core_end ? target.core_end : target.end;
  }

  // Between the brackets of "()" and the like, the first pair of the source being the target's.
  std::optional<size_t> InPunctuation(const Sentence& sentence, const Mark& mark) const {
    const std::string_view source(segment_.text), text(sentence.hypothesis->text);
    size_t begin = mark.at, end = mark.at;
    const auto* bytes = reinterpret_cast<const uint8_t*>(source.data());
    U8_BACK_1(bytes, 0, begin);
    U8_FWD_1(bytes, end, source.size());
    const std::string_view pair = source.substr(begin, end - begin);
    const Word word = WordAt(source, begin, end);
    if (IsCored(source, word)) return std::nullopt;
    size_t found = text.find(pair), at = source.find(pair, sentence.part.begin);
    for (int skipped = 0; at < begin && found != text.npos; ++skipped) {
      if (skipped == kMostPairs) return std::nullopt;
      found = text.find(pair, found + 1);
      at = source.find(pair, at + 1);
    }
    if (found == text.npos) return std::nullopt;
    return found + (mark.at - begin);
  }

  // Between what is written and a mark that goes to this place.
  bool NeedsSpace(const PlacedMark& place) const {
    if (place.mark->sticks) return false;
    const std::string_view source = SourceBefore(*place.mark);
    if (TouchesAlikeAtEnd(source, shown_, place.linked)) return false;
    return NeedsSpaceAfter(shown_, source.ends_with(' '));
  }

  bool NeedsSpaceBehind(const PlacedMark& place, std::string_view space,
                        std::string_view text) const {
    const std::string_view source = SourceBehind(*place.mark);
    if (TouchesAlikeAtStart(source, text, place.linked)) return false;
    return NeedsSpaceBefore(text, source.starts_with(' ') && !space.empty());
  }

  void WriteSentence(const Sentence& sentence) {
    std::vector<PlacedMark> placed;
    for (; next_mark_ < marks_.size(); ++next_mark_) {
      const Mark& mark = marks_[next_mark_];
      if (mark.at > sentence.part.end || (mark.at == sentence.part.end && !mark.sticks)) break;
      placed.push_back(PlacedMarkOf(sentence, mark));
    }
    std::ranges::stable_sort(
        placed, {}, [](const PlacedMark& place) { return std::pair(place.at, place.order()); });
    const std::string_view text = sentence.hypothesis->text;
    auto place = placed.begin();
    // Those that stand at most at `end`, between what is written and the text from `next`.
    const auto write = [&](size_t end, std::string_view space, size_t next,
                           const Stack& following) {
      const auto first = place;
      while (place != placed.end() && place->at <= end) ++place;
      WriteBetween({first, place}, space, text.substr(next), following);
    };
    Stack stack;
    size_t done = 0;
    for (size_t t = 0; t < sentence.target.size(); ++t) {
      const std::vector<Piece> pieces = PiecesOf(sentence, t, stack);
      const Word& word = sentence.target[t];
      write(word.begin, text.substr(done, word.begin - done), word.begin, pieces.front().stack);
      done = word.begin;
      for (const Piece& piece : pieces) {
        for (const size_t end = done + piece.text.size(); done < end;) {
          write(done, "", done, piece.stack);
          const size_t next = place == placed.end() ? end : std::min(end, place->at);
          PutText(text.substr(done, next - done), piece.stack);
          done = next;
        }
      }
      stack = pieces.back().stack;
    }
    write(text.size(), text.substr(done), text.size(), stack);
  }

  // Marks, and white space where it is needed: before the text `behind`. `space` is what stands
  // there in the translation.
  void WriteBetween(std::span<const PlacedMark> placed, std::string_view space,
                    std::string_view behind, const Stack& following) {
    const std::vector<bool> spaces = SpacesAround(placed, space, behind);
    for (size_t m = 0; m <= placed.size(); ++m) {
      const bool last = m == placed.size();
      if (spaces[m]) {
        const std::string_view own = std::exchange(space, "");
        PutText(own.empty() ? " " : own,
                Shared(open_, last ? following : StackAt(placed[m].mark->inside)));
      }
      if (!last) Put(*placed[m].mark);
    }
  }

  // Whether white space stands before each mark, and behind the last. Two things that show have it
  // where the source had it between them.
  std::vector<bool> SpacesAround(std::span<const PlacedMark> placed, std::string_view space,
                                 std::string_view behind) const {
    std::vector<bool> spaces(placed.size() + 1);
    const PlacedMark* before = nullptr;
    for (size_t m = 0, first = 0; m <= placed.size(); ++m) {
      const PlacedMark* place = m < placed.size() ? &placed[m] : nullptr;
      if (place != nullptr && place->mark->shown.empty()) continue;
      bool needed = !space.empty();
      if (before != nullptr && place != nullptr) {
        needed = before->mark->at != place->mark->at &&
                 NeedsSpaceBetween(before->mark->shown, place->mark->shown);
      } else if (place != nullptr) {
        needed = NeedsSpace(*place);
      } else if (before != nullptr) {
        needed = NeedsSpaceBehind(*before, space, behind);
      }
      bool had = false;
      const Mark* spaced = nullptr;  // the last mark behind a space
      for (size_t i = first; needed && i <= m; ++i) {
        const Mark* left = i > 0 ? placed[i - 1].mark : nullptr;
        const Mark* right = i < placed.size() ? placed[i].mark : nullptr;
        const bool behind_left = left != nullptr && left->before_space;
        const bool before_right = right != nullptr && right->behind_space;
        // A second space only where the source had both around what shows nothing.
        const bool around = spaced != nullptr && spaced->behind_space && spaced->at == left->at;
        spaces[i] = had ? behind_left && around : behind_left || before_right;
        had = had || spaces[i];
        if (spaces[i]) spaced = right;
      }
      if (needed && !had) spaces[first] = true;
      before = place;
      first = m + 1;
    }
    return spaces;
  }

  const Segment& segment_;
  std::vector<bool> used_, opened_;
  std::vector<Sentence> sentences_;
  std::vector<Mark> marks_;
  size_t next_mark_ = 0;
  std::string html_, shown_;  // what is written, and what of it is no tag
  Stack open_;
};

std::string HtmlDocument::Translate(size_t segment, const std::vector<TextPart>& parts,
                                    const std::function<const Hypothesis&(size_t)>& best) const {
  Writer writer(segments_[segment]);
  for (size_t i = 0; i < parts.size(); ++i) writer.AddSentence(parts[i], best(i));
  return writer.Write();
}

std::string HtmlDocument::Join(const std::vector<std::string>& segments) const {
  std::string html = between_[0];
  for (size_t i = 0; i < segments.size(); ++i) html += segments[i] + between_[i + 1];
  return html;
}

}  // namespace attend
