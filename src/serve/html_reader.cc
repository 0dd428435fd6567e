// How HTML is read; html_document.cc writes it again.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <initializer_list>

#include "attend/error.h"
#include "serve/html_document.h"
#include "text/ascii.h"

namespace attend {
namespace {

// Those that stand inside a line of text; every other tag divides.
constexpr std::array<std::string_view, 40> kInline = {
    "a",      "abbr",   "acronym", "b",    "bdi", "bdo",  "big",   "cite", "code",  "data",
    "del",    "dfn",    "em",      "font", "i",   "img",  "input", "ins",  "kbd",   "label",
    "mark",   "math",   "q",       "rp",   "rt",  "ruby", "s",     "samp", "small", "span",
    "strike", "strong", "sub",     "sup",  "svg", "time", "tt",    "u",    "var",   "wbr"};
// Without content (HTML standard, section 13.1.2).
constexpr std::array<std::string_view, 13> kVoid = {"area",   "base",  "br",    "col",  "embed",
                                                    "hr",     "img",   "input", "link", "meta",
                                                    "source", "track", "wbr"};
// Not to be translated. The content of raw ones has no tags, and ends at the first that closes it.
constexpr std::array<std::string_view, 3> kRaw = {"script", "style", "textarea"};
constexpr std::array<std::string_view, 6> kKept = {"code", "kbd", "math", "samp", "svg", "var"};

// U+00A0 to U+00FF, in order.
constexpr std::string_view kLatin1 =
    "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn "
    "sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave "
    "Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml "
    "ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN "
    "szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave "
    "iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute "
    "ucirc uuml yacute thorn yuml ";
constexpr std::array<std::pair<std::string_view, uint32_t>, 20> kOthers = {
    {{"amp", '&'},       {"lt", '<'},       {"gt", '>'},        {"quot", '"'},
     {"apos", '\''},     {"ndash", 0x2013}, {"mdash", 0x2014},  {"lsquo", 0x2018},
     {"rsquo", 0x2019},  {"sbquo", 0x201A}, {"ldquo", 0x201C},  {"rdquo", 0x201D},
     {"bdquo", 0x201E},  {"bull", 0x2022},  {"hellip", 0x2026}, {"lsaquo", 0x2039},
     {"rsaquo", 0x203A}, {"euro", 0x20AC},  {"trade", 0x2122},  {"minus", 0x2212}}};

template <size_t n>
bool Holds(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

constexpr std::string_view kNoBreakSpace = "\xC2\xA0";

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

// 0: no character has this name.
uint32_t CharacterNamed(std::string_view name) {
  for (const auto& [known, character] : kOthers) {
    if (known == name) return character;
  }
  uint32_t character = 0xA0;
  for (size_t begin = 0; begin < kLatin1.size(); ++character) {
    const size_t end = kLatin1.find(' ', begin);
    if (kLatin1.substr(begin, end - begin) == name) return character;
    begin = end + 1;
  }
  return 0;
}

// `name` without & and ;
uint32_t Character(std::string_view name) {
  if (!name.starts_with('#')) return CharacterNamed(name);
  name.remove_prefix(1);
  const bool hexadecimal = name.starts_with('x') || name.starts_with('X');
  if (hexadecimal) name.remove_prefix(1);
  uint32_t character = 0;
  const auto parsed =
      std::from_chars(name.data(), name.data() + name.size(), character, hexadecimal ? 16 : 10);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == name.data() + name.size();
  const bool scalar = character > 31 && character < 0x110000 && (character >> 11) != 0x1B;
  return whole && scalar ? character : 0;
}

std::string Utf8(uint32_t character) {
  if (character < 0x80) return {static_cast<char>(character)};
  std::string bytes;
  int more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  const uint32_t lead = more == 1 ? 0xC0 : more == 2 ? 0xE0 : 0xF0;
  bytes += static_cast<char>(lead | (character >> (6 * more)));
  while (more-- > 0) bytes += static_cast<char>(0x80 | ((character >> (6 * more)) & 0x3F));
  return bytes;
}

// Of a segment; each word is compared with all of them, and each mark knows those around it.
constexpr size_t kMostElements = 500, kDeepestElement = 64;

// Tags that never end, each of which costs a look at all that follows; after so many there are
// none.
constexpr int kMostUnended = 16;

struct Tag {
  size_t begin = 0, length = 0;                       // in the document
  std::string name;                                   // in lower case
  bool closing = false, empty = false, keep = false;  // keep: not to be translated
  size_t end = 0;                                     // of its element, where it opens one
  size_t id_begin = 0, id_end = 0;                    // of its attribute id, from the tag's begin

  // Custom elements stand in a line, as in browsers.
  bool in_line() const { return Holds(kInline, name) || name.find('-') != name.npos; }
};

// Reads one tag as the HTML standard does (section 13.2.5, states from tag open on).
class TagReader {
 public:
  explicit TagReader(std::string_view html) : html_(html) {}

  // Of length 0 where the tag does not end.
  Tag Read() {
    Tag tag;
    tag.closing = html_.substr(at_).starts_with('/');
    at_ += tag.closing ? 1 : 0;
    tag.name = LowerCase(TakeUntil("/>"));
    bool slash = false;
    while (true) {
      Skip();
      if (at_ >= html_.size()) return {};
      const char next = html_[at_];
      if (next == '>') break;
      slash = next == '/';
      if (slash) {
        ++at_;
      } else {
        ReadAttribute(&tag);
      }
    }
    tag.length = at_ + 1;
    tag.empty = slash || Holds(kVoid, tag.name);
    tag.keep = !tag.closing && (tag.keep || Holds(kRaw, tag.name) || Holds(kKept, tag.name));
    return tag;
  }

 private:
  void Skip() {
    while (at_ < html_.size() && IsSpace(html_[at_])) ++at_;
  }

  // What stands before white space or one of `ends`.
  std::string_view TakeUntil(std::string_view ends) {
    const size_t begin = at_;
    while (at_ < html_.size() && !IsSpace(html_[at_]) && ends.find(html_[at_]) == ends.npos) ++at_;
    return html_.substr(begin, at_ - begin);
  }

  void ReadAttribute(Tag* tag) {
    const size_t begin = at_++;  // whatever the first character is, it belongs to the name
    TakeUntil("/>=");
    const std::string name = LowerCase(html_.substr(begin, at_ - begin));
    Skip();
    if (!html_.substr(std::min(at_, html_.size())).starts_with('=')) return;
    ++at_;
    Skip();
    const std::string value = LowerCase(TakeValue());
    if (name == "id") tag->id_begin = begin, tag->id_end = at_;
    if (name == "translate" && value == "no") tag->keep = true;
    if (name == "class" && HoldsWord(value, "notranslate")) tag->keep = true;
  }

  std::string_view TakeValue() {
    const char quote = at_ < html_.size() ? html_[at_] : '\0';
    if (quote != '"' && quote != '\'') return TakeUntil(">");
    const size_t end = std::min(html_.find(quote, at_ + 1), html_.size());
    const std::string_view value = html_.substr(at_ + 1, end - at_ - 1);
    at_ = std::min(end + 1, html_.size());
    return value;
  }

  static bool HoldsWord(std::string_view text, std::string_view word) {
    for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
      const size_t end = at + word.size();
      const bool begins = at == 0 || IsSpace(text[at - 1]);
      if (begins && (end == text.size() || IsSpace(text[end]))) return true;
    }
    return false;
  }

  std::string_view html_;
  size_t at_ = 1;
};

// Where what begins with <! or <? at the front ends.
size_t DeclarationEnd(std::string_view html) {
  const std::string_view closing = html.starts_with("<!--") ? "-->" : ">";
  const size_t end = html.find(closing, html.starts_with("<!--") ? 4 : 2);
  return end == std::string_view::npos ? html.size() : end + closing.size();
}

bool IsDeclaration(std::string_view html) {
  return html.starts_with("<!") || html.starts_with("<?");
}

// Whether a closing tag of this name stands at the front.
bool Closes(std::string_view html, const std::string& name) {
  if (!html.starts_with("</") || LowerCase(html.substr(2, name.size())) != name) return false;
  const std::string_view rest = html.substr(2 + name.size());
  return !rest.empty() && (IsSpace(rest[0]) || rest[0] == '/' || rest[0] == '>');
}

// Opening tags that end a paragraph (HTML standard, section 13.1.2.4).
constexpr std::array<std::string_view, 38> kEndParagraph = {
    "address", "article", "aside",   "blockquote", "center",   "dd",         "details", "dialog",
    "dir",     "div",     "dl",      "dt",         "fieldset", "figcaption", "figure",  "footer",
    "form",    "h1",      "h2",      "h3",         "h4",       "h5",         "h6",      "header",
    "hgroup",  "hr",      "li",      "main",       "menu",     "nav",        "ol",      "p",
    "pre",     "search",  "section", "summary",    "table",    "ul"};
constexpr std::array<std::string_view, 9> kTable = {"table", "caption", "tbody", "thead",   "tfoot",
                                                    "tr",    "td",      "th",    "colgroup"};

// All tags of a document in their order, with where the elements end that they open; in one pass.
// An element ends where it is closed, where the one around it is, or where what follows says so,
// since </p>, </li> and the like may be left out. One that stands inside a line and is not closed
// itself ends where the text is divided.
class TagScanner {
 public:
  explicit TagScanner(std::string_view html) : html_(html) {}

  std::vector<Tag> Scan() {
    for (size_t at = html_.find('<'); at < html_.size(); at = html_.find('<', at)) {
      const std::string_view rest = html_.substr(at);
      at += IsDeclaration(rest) ? DeclarationEnd(rest) : ReadTag(at);
    }
    while (!open_.empty()) End(open_.size() - 1, html_.size());
    return std::move(tags_);
  }

 private:
  using Names = std::initializer_list<std::string_view>;

  // The bytes of the tag, and of the content of a raw element; 1 where there is none.
  size_t ReadTag(size_t at) {
    const std::string_view rest = html_.substr(at);
    const size_t name = rest.starts_with("</") ? 2 : 1;
    if (name >= rest.size() || std::isalpha(static_cast<unsigned char>(rest[name])) == 0) return 1;
    Tag tag = WholeTag(at);
    if (tag.length == 0) return 1;
    const bool opens = !tag.closing && !tag.empty, raw = opens && Holds(kRaw, tag.name);
    if (raw) tag.end = RawEnd(tag);
    if (tag.closing) {
      CloseElement(tag);
    } else {
      EndOmitted(tag);
    }
    if (!tag.in_line()) divisions_.push_back(at);
    if (opens && !raw) open_.push_back(tags_.size());
    tags_.push_back(tag);
    return tag.end - at;
  }

  // Of length 0 where it has no end.
  Tag WholeTag(size_t at) {
    if (unended_ >= kMostUnended) return {};
    Tag tag = TagReader(html_.substr(at)).Read();
    if (tag.length == 0) ++unended_;
    tag.begin = at;
    tag.end = at + tag.length;
    return tag;
  }

  size_t RawEnd(const Tag& opening) {
    for (size_t at = html_.find("</", opening.end); at < html_.size();
         at = html_.find("</", at + 1)) {
      if (!Closes(html_.substr(at), opening.name)) continue;
      if (const Tag closing = WholeTag(at); closing.length > 0) return closing.end;
    }
    return html_.size();
  }

  // Ends the open elements from this one inwards; those inside a line where the text is divided.
  void End(size_t outermost, size_t end) {
    for (; open_.size() > outermost; open_.pop_back()) {
      Tag& tag = tags_[open_.back()];
      tag.end = end;
      if (!tag.in_line()) continue;
      const auto next = std::upper_bound(divisions_.begin(), divisions_.end(), tag.begin);
      if (next != divisions_.end()) tag.end = std::min(end, *next);
    }
  }

  // The innermost open element of these names, where none that `stops` is further in; the number
  // of open ones otherwise. No further out than browsers nest.
  template <class Stops>
  size_t Innermost(Names names, Stops stops) const {
    constexpr size_t kDeepest = 512;
    for (size_t depth = 1; depth <= std::min(kDeepest, open_.size()); ++depth) {
      const Tag& tag = tags_[open_[open_.size() - depth]];
      if (std::ranges::find(names, tag.name) != names.end()) return open_.size() - depth;
      if (stops(tag)) break;
    }
    return open_.size();
  }

  // Tags inside a line may cross: such a closing tag ends its own element alone, and none beyond a
  // block. Others end what is in their element, but not the table around them.
  void CloseElement(const Tag& closing) {
    const bool of_table = Holds(kTable, closing.name);
    const size_t found = Innermost({closing.name}, [&](const Tag& open) {
      if (closing.in_line()) return !open.in_line();
      return of_table ? open.name == "table" : Holds(kTable, open.name);
    });
    if (found == open_.size()) return;
    const size_t closed = open_[found];
    if (closing.in_line()) {
      open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(found));
    } else {
      End(found, closing.begin);
    }
    tags_[closed].end = closing.end;
  }

  void EndInnermost(Names names, Names around, size_t end) {
    const auto stops = [&](const Tag& open) {
      return std::ranges::find(around, open.name) != around.end();
    };
    if (const size_t found = Innermost(names, stops); found < open_.size()) End(found, end);
  }

  // Ends what this opening tag ends though nothing closed it.
  void EndOmitted(const Tag& opening) {
    const std::string_view name = opening.name;
    const size_t at = opening.begin;
    if (Holds(kEndParagraph, name))
      EndInnermost({"p"}, {"button", "object", "svg", "math", "table", "td", "th"}, at);
    if (name == "li") EndInnermost({"li"}, {"ul", "ol", "menu", "table", "td", "th"}, at);
    if (name == "dt" || name == "dd") EndInnermost({"dt", "dd"}, {"dl", "table", "td", "th"}, at);
    if (name == "td" || name == "th") EndInnermost({"td", "th"}, {"tr", "table"}, at);
    const bool section = name == "tbody" || name == "thead" || name == "tfoot";
    if (name == "tr" || section) EndInnermost({"tr"}, {"table", "tbody", "thead", "tfoot"}, at);
    if (section) EndInnermost({"tbody", "thead", "tfoot"}, {"table"}, at);
    if (name == "option" || name == "optgroup")
      EndInnermost({"option"}, {"select", "datalist", "optgroup"}, at);
    if (name == "optgroup") EndInnermost({"optgroup"}, {"select"}, at);
  }

  std::string_view html_;
  std::vector<Tag> tags_;
  std::vector<size_t> open_;       // of tags_, the innermost last
  std::vector<size_t> divisions_;  // where tags stand that divide
  int unended_ = 0;
};

}  // namespace

class HtmlDocument::Reader {
 public:
  Reader(HtmlDocument* document, std::string_view html)
      : document_(document), tags_(TagScanner(html).Scan()), html_(html), rest_(html) {
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
    AddText(std::string(1, IsSpace(c) && !preformatted_ ? ' ' : c), 1);
  }

  void AddText(const std::string& text, size_t length) {
    segment_.text += text;
    Take(length);
  }

  void AddMark(size_t length) {
    segment_.marks.push_back({.at = segment_.text.size(),
                              .html = std::string(rest_.substr(0, length)),
                              .inside = OpenElements()});
    Take(length);
  }

  Stack OpenElements() const {
    Stack elements;
    for (const Open& open : open_) elements.push_back(open.element);
    return elements;
  }

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
    const size_t end = rest_.substr(0, 12).find(';');
    const bool whole = end != std::string_view::npos && end > 1;
    const std::string_view name = whole ? rest_.substr(1, end - 1) : std::string_view();
    const uint32_t character = whole ? Character(name) : 0;
    // A word for the model ends at any space.
    if (character == 0xA0) return AddText(" ", end + 1);
    if (character > 0) return AddText(Utf8(character), end + 1);
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
    Stack inside = OpenElements();
    open_.push_back({tag.name, segment_.elements.size(), tag.begin, segment_.marks.size()});
    const size_t at = segment_.text.size();
    const std::string open(rest_.substr(0, tag.length));
    std::string again = open;
    again.erase(tag.id_begin, tag.id_end - tag.id_begin);
    segment_.elements.push_back({at, at, open, again, "", std::move(inside)});
    Take(tag.length);
  }

  // Whether text of its own begins, as in a menu: behind a tag that closes a like element, without
  // a space, and not in the middle of a word.
  bool BeginsAnew(const Tag& tag) const {
    const std::string_view behind = rest_.substr(tag.length);
    if (next_ == 0 || behind.empty() || segment_.text.empty()) return false;
    const Tag& closing = tags_[next_ - 1];
    const bool sibling = closing.closing && closing.name == tag.name && closing.end == tag.begin;
    const char last = segment_.text.back(), first = behind[0];
    if (!sibling || IsSpace(last) || IsSpace(first) || first == '<') return false;
    const bool capital = first >= 'A' && first <= 'Z';
    return capital || !IsOfWord(last) || !IsOfWord(first);
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
    if (opening == open_.rbegin() && IsFootnote(element, tag)) return KeepFootnote(*opening, tag);
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
      return byte < 0x80 && std::isalpha(byte) == 0 && !IsSpace(c);
    };
    return at_word && std::ranges::all_of(text, no_letter);
  }

  void KeepFootnote(const Open& opening, const Tag& closing) {
    const size_t begin = opening.begin, end = closing.begin + closing.length;
    segment_.text.resize(segment_.elements[opening.element].begin);
    segment_.marks.resize(opening.marks);
    segment_.elements.resize(opening.element);
    open_.pop_back();
    segment_.marks.push_back({.at = segment_.text.size(),
                              .html = std::string(html_.substr(begin, end - begin)),
                              .sticks = true,
                              .inside = OpenElements()});
    Take(closing.length);
  }

  // Leaves out the others, and renumbers.
  void KeepClosedElements() {
    std::vector<Element>& elements = segment_.elements;
    std::vector<size_t> closed;
    for (size_t e = 0; e < elements.size(); ++e) {
      if (!elements[e].close.empty()) closed.push_back(e);
    }
    const auto renumber = [&](Stack* stack) {
      Stack places;
      for (const size_t element : *stack) {
        const auto place = std::ranges::lower_bound(closed, element);
        if (place != closed.end() && *place == element) places.push_back(place - closed.begin());
      }
      *stack = std::move(places);
    };
    for (Mark& mark : segment_.marks) renumber(&mark.inside);
    std::erase_if(elements, [](const Element& element) { return element.close.empty(); });
    for (Element& element : elements) renumber(&element.inside);
  }

  // Marks side by side have what stands around them all.
  void FindSpacesOfMarks() {
    std::vector<Mark>& marks = segment_.marks;
    for (size_t m = 0; m < marks.size(); ++m) {
      FindSpaces(segment_.text, &marks[m]);
      if (m > 0 && marks[m - 1].at == marks[m].at) {
        marks[m].behind_space = marks[m - 1].before_space = false;
      }
    }
  }

  // What is open still stays a tag alone.
  void EndSegment() {
    for (const Open& open : open_) {
      const Element& element = segment_.elements[open.element];
      segment_.marks.push_back({element.begin, element.open});
    }
    KeepClosedElements();
    const auto before = [](const Mark& a, const Mark& b) { return a.at < b.at; };
    std::stable_sort(segment_.marks.begin(), segment_.marks.end(), before);
    FindSpacesOfMarks();
    if (std::ranges::all_of(segment_.text, IsSpace)) {
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
