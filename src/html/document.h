// HTML as plain text to translate, and back with its tags at the right words.
#ifndef ATTEND_HTML_DOCUMENT_H_
#define ATTEND_HTML_DOCUMENT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "attend/translator.h"
#include "text/text_parts.h"

namespace attend {

// Cut at tags that divide text (p, li, br ...) into segments; tags inside a segment (b, a ...) go
// where the words that they stand at go, by alignment (of a sentence that has none, as if its words
// kept their order), and are opened again where those part (then without their id). What is not
// text (comments, scripts, images, code, what is marked translate="no", a footnote's number) is
// kept, inside the tags that it stands in, with the spaces that its new neighbours need. A line of
// <pre> is a segment of its own. Any bytes are accepted.
class HtmlDocument {
 public:
  explicit HtmlDocument(std::string_view html);

  size_t segments() const { return segments_.size(); }
  // Without tags, entities decoded, white space as spaces but in <pre>.
  const std::string& Text(size_t segment) const { return segments_[segment].text; }
  // The segment's HTML once its sentences are what `best` gives; alignments count words of the
  // sentence.
  std::string Translate(size_t segment, const std::vector<TextPart>& parts,
                        const std::function<const Hypothesis&(size_t part)>& best) const;
  // The document with each segment replaced.
  std::string Join(const std::vector<std::string>& segments) const;

 private:
  class Reader;
  class Writer;
  static constexpr size_t kNone = SIZE_MAX;
  struct Element {
    size_t begin = 0, end = 0;  // bytes of the segment's text
    std::string open, open_again, close;
    size_t inside = kNone;  // the innermost element around it
  };
  struct Mark {
    size_t at = 0;
    std::string html;
    std::string shown;  // what a reader sees of it: text, U+FFFC for an image, "" for a comment
    bool behind_space = false, before_space = false;
    bool sticks = false;  // to the word before it
    size_t inside = kNone;
  };
  struct Segment {
    std::string text;
    std::vector<Element> elements;  // in the order they open
    std::vector<Mark> marks;
  };

  std::vector<Segment> segments_;
  std::vector<std::string> between_;  // before each segment, and after the last
};

}  // namespace attend

#endif  // ATTEND_HTML_DOCUMENT_H_
