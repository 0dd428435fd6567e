#include "serve/html_document.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <utility>

#include "text/lines.h"

namespace attend {
namespace {

// Punctuation may stand around its core.
struct Word {
  size_t begin, core_begin, core_end, end;
};

bool IsPunctuation(UChar32 character) { return character >= 0 && u_ispunct(character) != 0; }

Word WordAt(std::string_view text, size_t begin, size_t end) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  const auto limit = static_cast<int32_t>(end);
  auto first = static_cast<int32_t>(begin), last = limit;
  UChar32 character;
  for (int32_t next = first; next < limit; first = next) {
    U8_NEXT(bytes, next, limit, character);
    if (!IsPunctuation(character)) break;
  }
  for (int32_t before = last; before > first; last = before) {
    U8_PREV(bytes, first, before, character);
    if (!IsPunctuation(character)) break;
  }
  if (first == last) first = static_cast<int32_t>(begin), last = limit;  // nothing else
  return {begin, static_cast<size_t>(first), static_cast<size_t>(last), end};
}

std::vector<Word> WordsOf(std::string_view text) {
  std::vector<Word> words;
  size_t done = 0;
  for (const size_t end : WordEnds(text)) {
    const size_t begin = std::min(text.find_first_not_of(" \t", done), end);
    words.push_back(WordAt(text, begin, end));
    done = end;
  }
  return words;
}

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
    for (const AlignmentLink& link : hypothesis.alignment) {
      const bool known = link.target < std::ssize(sentence.links) && link.source >= 0 &&
                         link.source < std::ssize(sentence.source);
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
      WriteSentence(sentence);
      done = sentence.part.end;
    }
    WriteGap(done, segment_.text.size());
    for (; next_mark_ < marks_.size(); ++next_mark_) Put(marks_[next_mark_]);
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
  // Of a target word.
  struct Piece {
    std::string_view text;
    Stack stack;
    size_t source_end;  // of the segment's text; what sticks up to there follows the piece
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
    if (sentence.links[t] < 0) return {{part(target.begin, target.end), before, 0}};
    const Word& source = sentence.source[sentence.links[t]];
    const std::string_view own =
        std::string_view(segment_.text).substr(source.begin, source.end - source.begin);
    std::vector<Piece> pieces;
    if (own == part(target.begin, target.end)) {
      for (size_t at = source.begin, next; at < source.end; at = next) {
        next = NextBorder(at, source.end);
        pieces.push_back({own.substr(at - source.begin, next - at), Around(at, at + 1), next});
      }
      return pieces;
    }
    const Stack core = Around(source.core_begin, source.core_end);
    const bool lead = source.begin < source.core_begin, tail = source.core_end < source.end;
    if (target.begin < target.core_begin) {
      pieces.push_back({part(target.begin, target.core_begin),
                        lead ? Around(source.begin, source.begin + 1) : core, 0});
    }
    const bool whole = target.core_end == target.end;
    pieces.push_back(
        {part(target.core_begin, target.core_end), core, whole ? source.end : source.core_end});
    if (!whole) {
      pieces.push_back({part(target.core_end, target.end),
                        tail ? Around(source.end - 1, source.end) : core, source.end});
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

  void Put(const Mark& mark) { Put(mark.html, StackAt(mark.inside)); }

  void WriteGap(size_t begin, size_t end) {
    for (size_t at = begin; at < end;) {
      WriteMarks(at);
      const size_t next = NextBorder(at, end);
      Put(Escape(segment_.text.substr(at, next - at)), Around(at, at + 1));
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

  // Those that stand at or before a byte of the source.
  void WriteMarks(size_t at) {
    for (; next_mark_ < marks_.size() && marks_[next_mark_].at <= at; ++next_mark_) {
      Put(marks_[next_mark_]);
    }
  }

  // The target word before which a mark stands: the first of what stood behind it.
  static size_t TargetOf(const Sentence& sentence, size_t at) {
    const auto behind = [&](int64_t link) {
      return link >= 0 && sentence.source[link].begin >= at;
    };
    return std::ranges::find_if(sentence.links, behind) - sentence.links.begin();
  }

  // The last target word of the source word that a mark sticks to; that many if there is none.
  static size_t HolderOf(const Sentence& sentence, size_t at) {
    const auto holds = [&](int64_t link) {
      return link >= 0 && sentence.source[link].begin < at && at <= sentence.source[link].end;
    };
    const auto last = std::find_if(sentence.links.rbegin(), sentence.links.rend(), holds);
    return last == sentence.links.rend() ? sentence.links.size() : sentence.links.rend() - last - 1;
  }

  void WriteSentence(const Sentence& sentence) {
    const size_t words = sentence.target.size();
    std::vector<std::vector<const Mark*>> marks(words + 1), sticking(words + 1);
    for (; next_mark_ < marks_.size(); ++next_mark_) {
      const Mark& mark = marks_[next_mark_];
      if (mark.at > sentence.part.end || (mark.at == sentence.part.end && !mark.sticks)) break;
      const size_t holder = mark.sticks ? HolderOf(sentence, mark.at) : words;
      if (holder < words) {
        sticking[holder].push_back(&mark);
      } else {
        marks[TargetOf(sentence, mark.at)].push_back(&mark);
      }
    }
    const std::string_view text = sentence.hypothesis->text;
    Stack stack;
    size_t done = 0;
    for (size_t t = 0; t < words; ++t) {
      const std::vector<Piece> pieces = PiecesOf(sentence, t, stack);
      WriteBetween(text.substr(done, sentence.target[t].begin - done), marks[t],
                   pieces.front().stack, false);
      auto mark = sticking[t].begin();
      for (const Piece& piece : pieces) {
        Put(Escape(piece.text), piece.stack);
        for (; mark != sticking[t].end() && (*mark)->at <= piece.source_end; ++mark) Put(**mark);
      }
      stack = pieces.back().stack;
      done = sentence.target[t].end;
    }
    WriteBetween(text.substr(done), marks[words], stack, true);
  }

  // The marks before a word or after the last, with white space on their sides where it was.
  void WriteBetween(std::string_view space, const std::vector<const Mark*>& marks,
                    const Stack& following, bool last) {
    for (const Mark* mark : marks) {
      if (last && mark->behind_space && space.empty()) space = " ";
      if (mark->behind_space || !mark->before_space)
        Put(std::exchange(space, ""), Shared(open_, StackAt(mark->inside)));
      Put(*mark);
      if (mark->before_space && !last) {
        Put(space.empty() ? " " : std::exchange(space, ""), Shared(open_, following));
      }
    }
    if (!space.empty()) Put(space, Shared(open_, following));
  }

  const Segment& segment_;
  std::vector<bool> used_, opened_;
  std::vector<Sentence> sentences_;
  std::vector<Mark> marks_;
  size_t next_mark_ = 0;
  std::string html_;
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
