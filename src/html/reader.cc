// How HTML is read; html_document.cc writes it again.
#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "attend/error.h"
#include "html/document.h"
#include "html/entities.h"
#include "html/tags.h"

namespace attend {
namespace {

// Of a segment: each word is compared with all elements, each mark goes inside those around it.
constexpr size_t kMostElements = 500, kDeepestElement = 64;

constexpr std::string_view kNoBreakSpace = "\xC2\xA0";
constexpr std::string_view kObject = "\xEF\xBF\xBC";  // stands for what is no text

// Text without comments.
void AddShown(std::string_view html, std::string* shown) {
  for (size_t at = 0; at < html.size();) {
    const std::string_view rest = html.substr(at);
    const bool declaration = IsDeclaration(rest);
    if (!declaration) *shown += rest[0];
    at += declaration ? DeclarationEnd(rest) : 1;
  }
}

// What a reader sees of a tag, an element or an entity that is kept.
std::string ShownOf(std::string_view html) {
  if (html.starts_with('&')) return std::string(html);
  const std::vector<Tag> tags = ScanTags(html);
  if (tags.empty() || tags[0].name == "script" || tags[0].name == "style") return "";
  std::string shown;
  size_t done = 0;
  bool object = false;
  for (const Tag& tag : tags) {
    AddShown(html.substr(done, tag.begin - done), &shown);
    done = tag.begin + tag.length;
    object = object || (tag.empty && tag.name != "wbr") || tag.name == "svg" || tag.name == "math";
  }
  AddShown(html.substr(done), &shown);
  return shown.empty() && object ? std::string(kObject) : shown;
}

}  // namespace

class HtmlDocument::Reader {
 public:
  Reader(HtmlDocument* document, std::string_view html)
      : document_(document), tags_(ScanTags(html)), html_(html), rest_(html) {
    document_->between_.emplace_back();
  }

  void Read() {
    while (!rest_.empty()) {
      if (rest_[0] == '<') {
        ReadTag();
      } else if (rest_[0] == '&') {
        ReadEntity();
      } else {
        ReadCharacter();
      }
    }
    EndSegment();
  }

 private:
  struct Open {
    std::string name;
    size_t element;
    size_t begin;  // in the document
    size_t marks;  // of the segment before it
  };

  size_t Place() const { return html_.size() - rest_.size(); }

  // A line of preformatted text is a segment, with its white space as it is.
  void ReadCharacter() {
    const char c = rest_[0];
    if (preformatted_ && (c == '\n' || c == '\r')) return AddDivision(1);
    if (rest_.starts_with(kNoBreakSpace)) return AddText(" ", kNoBreakSpace.size());
    AddText(std::string(1, IsHtmlSpace(c) && !preformatted_ ? ' ' : c), 1);
  }

  void AddText(const std::string& text, size_t length) {
    segment_.text += text;
    Take(length);
  }

  void AddMark(size_t length) {
    segment_.marks.push_back({.at = segment_.text.size(),
                              .html = std::string(rest_.substr(0, length)),
                              .shown = ShownOf(rest_.substr(0, length)),
                              .inside = InnermostOpen()});
    Take(length);
  }

  size_t InnermostOpen() const { return open_.empty() ? kNone : open_.back().element; }

  void Take(size_t length) {
    raw_ += rest_.substr(0, length);
    rest_.remove_prefix(length);
  }

  void AddDivision(size_t length) {
    EndSegment();
    document_->between_.back() += rest_.substr(0, length);
    rest_.remove_prefix(length);
  }

  void ReadEntity() {
    const size_t end = rest_.substr(0, kLongestEntity).find(';');
    const bool whole = end != std::string_view::npos && end > 1;
    const std::string_view name = whole ? rest_.substr(1, end - 1) : std::string_view();
    const std::string text = whole ? TextOfEntity(name) : "";
    // A word for the model ends at any space.
    if (text == "\u00a0") return AddText(" ", end + 1);
    if (!text.empty()) return AddText(text, end + 1);
    if (const size_t length = EntityAlone(rest_.substr(1)); length > 0) {
      const std::string alone = TextOfEntity(rest_.substr(1, length));
      return AddText(alone == "\u00a0" ? " " : alone, length + 1);
    }
    const bool named = std::ranges::all_of(
        name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '#'; });
    if (whole && named) return AddMark(end + 1);  // one that we do not know
    AddText("&", 1);
  }

  void ReadTag() {
    if (IsDeclaration(rest_)) return AddMark(DeclarationEnd(rest_));
    const size_t at = Place();
    while (next_ < tags_.size() && tags_[next_].begin < at) ++next_;  // in what was kept
    if (next_ == tags_.size() || tags_[next_].begin > at) return AddText("<", 1);
    const Tag& tag = tags_[next_];
    if (tag.keep) return tag.in_line() ? AddMark(tag.end - at) : AddDivision(tag.end - at);
    if (tag.name == "pre") preformatted_ = !tag.closing;
    if (!tag.in_line()) return AddDivision(tag.length);
    if (tag.empty) return AddMark(tag.length);
    return tag.closing ? CloseElement(tag) : OpenElement(tag);
  }

  void OpenElement(const Tag& tag) {
    if (segment_.elements.size() >= kMostElements) {
      throw Error(ErrorKind::kInput,
                  fmt::format("a paragraph has more than {} tags; divide it", kMostElements));
    }
    if (open_.size() >= kDeepestElement) {
      throw Error(ErrorKind::kInput,
                  fmt::format("a paragraph's tags are nested deeper than {}", kDeepestElement));
    }
    if (BeginsAnew(tag)) EndSegment();
    const size_t inside = InnermostOpen();
    open_.push_back({tag.name, segment_.elements.size(), tag.begin, segment_.marks.size()});
    const size_t at = segment_.text.size();
    const std::string open(rest_.substr(0, tag.length));
    std::string again = open;
    again.erase(tag.id_begin, tag.id_end - tag.id_begin);
    segment_.elements.push_back({at, at, open, again, "", inside});
    Take(tag.length);
  }

  // Whether text of its own begins, as in a menu: behind a tag that closes a like element, without
  // a space. Where these are no links, not in the middle of a sentence, as far as can be seen.
  bool BeginsAnew(const Tag& tag) const {
    if (next_ == 0 || segment_.text.empty() || IsHtmlSpace(segment_.text.back())) return false;
    const Tag& closing = tags_[next_ - 1];
    size_t between = closing.end;
    while (IsDeclaration(html_.substr(between))) between += DeclarationEnd(html_.substr(between));
    if (!closing.closing || closing.name != tag.name || between != tag.begin) return false;
    const bool noted = !segment_.marks.empty() && segment_.marks.back().sticks &&
                       segment_.marks.back().at == segment_.text.size();
    const UChar32 first = FirstCharacter(tag.begin + tag.length);
    if (noted || first < 0 || !u_isalnum(first)) return false;
    return tag.name == "a" || u_isupper(first) || !IsOfWord(segment_.text.back());
  }

  // Behind opening tags and comments; negative where there is none, or an entity.
  UChar32 FirstCharacter(size_t at) const {
    for (size_t tag = next_ + 1; at < html_.size() && html_[at] == '<'; ++tag) {
      while (IsDeclaration(html_.substr(at))) at += DeclarationEnd(html_.substr(at));
      while (tag < tags_.size() && tags_[tag].begin < at) ++tag;
      if (tag == tags_.size() || tags_[tag].begin != at) break;
      if (tags_[tag].closing || tags_[tag].keep || !tags_[tag].in_line()) return -1;
      at += tags_[tag].length;
    }
    if (at >= html_.size() || html_[at] == '&') return -1;
    const std::string_view rest = html_.substr(at, 4);
    UChar32 character;
    int32_t next = 0;
    U8_NEXT(reinterpret_cast<const uint8_t*>(rest.data()), next, static_cast<int32_t>(rest.size()),
            character);
    return character;
  }

  static bool IsOfWord(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isalnum(byte) != 0 || byte >= 0x80;
  }

  void CloseElement(const Tag& tag) {
    const auto opening = std::find_if(open_.rbegin(), open_.rend(),
                                      [&](const Open& open) { return open.name == tag.name; });
    if (opening == open_.rend()) return AddMark(tag.length);
    Element& element = segment_.elements[opening->element];
    element.end = segment_.text.size();
    const bool empty = element.begin == element.end, footnote = IsFootnote(element, tag);
    if ((empty || footnote) && opening == open_.rbegin() && !IsCrossed(opening->element))
      return Keep(*opening, tag, footnote);
    element.close = rest_.substr(0, tag.length);
    open_.erase(std::next(opening).base());
    Take(tag.length);
  }

  // A number or sign at the end of a word, as in <sup>[1]</sup>.
  bool IsFootnote(const Element& element, const Tag& closing) const {
    const std::string_view text = std::string_view(segment_.text).substr(element.begin);
    const std::string_view behind = rest_.substr(closing.length);
    if (text.empty() || element.begin == 0 || (!behind.empty() && IsOfWord(behind[0])))
      return false;
    const char before = segment_.text[element.begin - 1];
    const bool at_word =
        IsOfWord(before) || std::string_view(".,;:!?").find(before) != std::string_view::npos;
    const auto no_letter = [](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return byte < 0x80 && std::isalpha(byte) == 0 && !IsHtmlSpace(c);
    };
    return at_word && std::ranges::all_of(text, no_letter);
  }

  // By one that opened before it.
  bool IsCrossed(size_t element) const {
    const auto& elements = segment_.elements;
    return std::any_of(elements.begin(), elements.begin() + static_cast<std::ptrdiff_t>(element),
                       [&](const Element& other) {
                         return !other.close.empty() && other.end > elements[element].begin;
                       });
  }

  // The element is a mark with all that it holds.
  void Keep(const Open& opening, const Tag& closing, bool sticks) {
    const size_t begin = opening.begin, end = closing.begin + closing.length;
    segment_.text.resize(segment_.elements[opening.element].begin);
    segment_.marks.resize(opening.marks);
    segment_.elements.resize(opening.element);
    open_.pop_back();
    segment_.marks.push_back({.at = segment_.text.size(),
                              .html = std::string(html_.substr(begin, end - begin)),
                              .shown = ShownOf(html_.substr(begin, end - begin)),
                              .sticks = sticks,
                              .inside = InnermostOpen()});
    Take(closing.length);
  }

  // Leaves out the others, and renumbers.
  void KeepClosedElements() {
    std::vector<Element>& elements = segment_.elements;
    std::vector<size_t> places(elements.size(), kNone);  // of the innermost that is closed
    size_t closed = 0;
    for (size_t e = 0; e < elements.size(); ++e) {
      const size_t inside = elements[e].inside;
      elements[e].inside = inside == kNone ? kNone : places[inside];
      places[e] = elements[e].close.empty() ? elements[e].inside : closed++;
    }
    for (Mark& mark : segment_.marks) {
      if (mark.inside != kNone) mark.inside = places[mark.inside];
    }
    std::erase_if(elements, [](const Element& element) { return element.close.empty(); });
  }

  // Marks side by side have what stands around them all.
  void FindSpacesOfMarks() {
    std::vector<Mark>& marks = segment_.marks;
    for (size_t m = 0; m < marks.size(); ++m) {
      const size_t at = marks[m].at;
      marks[m].behind_space = at > 0 && segment_.text[at - 1] == ' ';
      marks[m].before_space = at < segment_.text.size() && segment_.text[at] == ' ';
      if (m > 0 && marks[m - 1].at == marks[m].at) {
        marks[m].behind_space = marks[m - 1].before_space = false;
      }
    }
  }

  // What is open still stays a tag alone.
  void EndSegment() {
    for (auto open = open_.rbegin(); open != open_.rend(); ++open) {
      const Element& element = segment_.elements[open->element];
      segment_.marks.insert(segment_.marks.begin() + static_cast<std::ptrdiff_t>(open->marks),
                            {.at = element.begin, .html = element.open});
    }
    KeepClosedElements();
    const auto before = [](const Mark& a, const Mark& b) { return a.at < b.at; };
    std::stable_sort(segment_.marks.begin(), segment_.marks.end(), before);
    FindSpacesOfMarks();
    if (std::ranges::all_of(segment_.text, IsHtmlSpace)) {
      document_->between_.back() += raw_;
    } else {
      document_->segments_.push_back(std::move(segment_));
      document_->between_.emplace_back();
    }
    segment_ = {};
    open_.clear();
    raw_.clear();
  }

  HtmlDocument* document_;
  const std::vector<Tag> tags_;
  size_t next_ = 0;  // of tags_
  const std::string_view html_;
  std::string_view rest_;
  Segment segment_;
  std::vector<Open> open_;
  std::string raw_;  // the segment as it stood
  bool preformatted_ = false;
};

HtmlDocument::HtmlDocument(std::string_view html) { Reader(this, html).Read(); }

}  // namespace attend
