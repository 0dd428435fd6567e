#include "serve/html_document.h"

#include <algorithm>
#include <utility>

#include "text/lines.h"

namespace attend {
namespace {

struct Word {
  size_t begin, end;
};

std::vector<Word> WordsOf(std::string_view text) {
  std::vector<Word> words;
  size_t done = 0;
  for (const size_t end : WordEnds(text)) {
    const size_t begin = std::min(text.find_first_not_of(" \t", done), end);
    words.push_back({begin, end});
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
  explicit Writer(const Segment& segment) : segment_(segment), used_(segment.elements.size()) {}

  void AddSentence(const TextPart& part, const Hypothesis& hypothesis) {
    Sentence& sentence = sentences_.emplace_back(Sentence{part, &hypothesis, {}, {}, {}});
    const std::string_view source(segment_.text);
    sentence.source = WordsOf(source.substr(part.begin, part.end - part.begin));
    sentence.target = WordsOf(hypothesis.text);
    sentence.links.assign(sentence.target.size(), -1);
    for (const AlignmentLink& link : hypothesis.alignment) {
      if (link.target < std::ssize(sentence.links)) sentence.links[link.target] = link.source;
    }
    for (Word& word : sentence.source) word.begin += part.begin, word.end += part.begin;
    for (const int64_t link : sentence.links) {
      for (const size_t element : StackOf(sentence, link)) used_[element] = true;
    }
  }

  std::string Write() {
    marks_ = segment_.marks;
    for (size_t e = 0; e < used_.size(); ++e) {  // no word of it is left: it stays, empty
      const Element& element = segment_.elements[e];
      if (used_[e] || InGap(element)) continue;
      marks_.push_back({element.begin, element.open + element.close});
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
    for (; next_mark_ < marks_.size(); ++next_mark_) Put(marks_[next_mark_].html, {});
    Put("", {});
    return std::move(html_);
  }

 private:
  using Stack = std::vector<size_t>;
  struct Sentence {
    TextPart part;
    const Hypothesis* hypothesis;
    std::vector<Word> source, target;  // the source's by bytes of the segment
    std::vector<int64_t> links;        // the source word of each target word, or -1
  };

  Stack Covering(size_t begin, size_t end) const {
    Stack stack;
    for (size_t e = 0; e < segment_.elements.size(); ++e) {
      const Element& element = segment_.elements[e];
      if (element.begin < end && element.end > begin) stack.push_back(e);
    }
    return stack;
  }

  Stack StackOf(const Sentence& sentence, int64_t source_word) const {
    if (source_word < 0 || source_word >= std::ssize(sentence.source)) return {};
    const Word& word = sentence.source[source_word];
    return Covering(word.begin, word.end);
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

  void Put(std::string_view html, const Stack& stack) {
    const size_t same = std::ranges::mismatch(open_, stack).in1 - open_.begin();
    while (open_.size() > same) {
      html_ += segment_.elements[open_.back()].close;
      open_.pop_back();
    }
    for (size_t i = same; i < stack.size(); ++i) {
      html_ += segment_.elements[stack[i]].open;
      open_.push_back(stack[i]);
    }
    html_ += html;
  }

  void WriteGap(size_t begin, size_t end) {
    for (size_t at = begin; at < end;) {
      WriteMarks(at);
      const size_t next = NextBorder(at, end);
      Put(Escape(segment_.text.substr(at, next - at)), Covering(at, at + 1));
      at = next;
    }
  }

  // The next byte, at most `end`, at which an element begins or ends or a mark stands.
  size_t NextBorder(size_t at, size_t end) const {
    const auto look = [&](size_t border) {
      if (border > at) end = std::min(end, border);
    };
    for (const Element& element : segment_.elements) look(element.begin), look(element.end);
    if (next_mark_ < marks_.size()) look(marks_[next_mark_].at);
    return end;
  }

  // Those that stand at or before a byte of the source.
  void WriteMarks(size_t at) {
    for (; next_mark_ < marks_.size() && marks_[next_mark_].at <= at; ++next_mark_) {
      Put(marks_[next_mark_].html, open_);
    }
  }

  // The target word before which a mark stands: the first of what stood behind it.
  static size_t TargetOf(const Sentence& sentence, size_t at) {
    const auto behind = [&](int64_t link) {
      return link >= 0 && link < std::ssize(sentence.source) && sentence.source[link].begin >= at;
    };
    return std::ranges::find_if(sentence.links, behind) - sentence.links.begin();
  }

  void WriteSentence(const Sentence& sentence) {
    std::vector<std::vector<const Mark*>> marks(sentence.target.size() + 1);
    for (; next_mark_ < marks_.size() && marks_[next_mark_].at < sentence.part.end; ++next_mark_) {
      marks[TargetOf(sentence, marks_[next_mark_].at)].push_back(&marks_[next_mark_]);
    }
    const std::string_view text = sentence.hypothesis->text;
    Stack stack;
    size_t done = 0;
    for (size_t t = 0; t <= sentence.target.size(); ++t) {
      const bool word = t < sentence.target.size();
      const Stack next =
          word && sentence.links[t] >= 0 ? StackOf(sentence, sentence.links[t]) : stack;
      const Word at = word ? sentence.target[t] : Word{text.size(), text.size()};
      const size_t same = std::ranges::mismatch(stack, next).in1 - stack.begin();
      const Stack shared(stack.begin(), stack.begin() + static_cast<std::ptrdiff_t>(same));
      WriteBetween(text.substr(done, at.begin - done), marks[t], t == 0 ? open_ : shared, !word);
      if (word) Put(Escape(text.substr(at.begin, at.end - at.begin)), next);
      stack = next;
      done = at.end;
    }
  }

  // The marks before a word or after the last, with white space on their sides where it was.
  void WriteBetween(std::string_view space, const std::vector<const Mark*>& marks,
                    const Stack& stack, bool last) {
    for (const Mark* mark : marks) {
      if (last && mark->behind_space && space.empty()) space = " ";
      if (mark->behind_space || !mark->before_space) Put(std::exchange(space, ""), stack);
      Put(mark->html, open_);
      if (mark->before_space && !last) Put(space.empty() ? " " : std::exchange(space, ""), open_);
    }
    Put(space, stack);
  }

  const Segment& segment_;
  std::vector<bool> used_;
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
