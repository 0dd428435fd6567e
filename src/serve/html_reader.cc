// How HTML is read; html_document.cc writes it again.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "attend/error.h"
#include "serve/html_document.h"

namespace attend {
namespace {

// Those that stand inside a line of text; every other tag divides.
constexpr std::array<std::string_view, 38> kInline = {
    "a",      "abbr", "acronym", "b",    "bdi",  "bdo", "big",   "cite",  "code", "data",
    "del",    "dfn",  "em",      "font", "i",    "img", "input", "ins",   "kbd",  "label",
    "mark",   "q",    "rp",      "rt",   "ruby", "s",   "samp",  "small", "span", "strike",
    "strong", "sub",  "sup",     "time", "tt",   "u",   "var",   "wbr"};
constexpr std::array<std::string_view, 3> kVoid = {"img", "input", "wbr"};
constexpr std::array<std::string_view, 4> kRaw = {"script", "style", "textarea", "title"};

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

// Of a segment; each word is compared with all of them.
constexpr size_t kMostElements = 500;

struct Tag {
  std::string name;  // in lower case
  size_t length = 0;
  bool closing = false, empty = false, keep = false;  // keep: not to be translated
};

// Tags that never end, each of which costs a look at all that follows; after so many there are
// none.
constexpr int kMostUnended = 16;

// The tag at the front, of length 0 where there is none.
Tag TagAt(std::string_view html, int* unended) {
  Tag tag;
  size_t at = 1;
  if (html.size() > 1 && html[1] == '/') tag.closing = true, ++at;
  if (at >= html.size() || std::isalpha(static_cast<unsigned char>(html[at])) == 0) return {};
  if (*unended > kMostUnended) return {};
  while (at < html.size() && !IsSpace(html[at]) && html[at] != '>' && html[at] != '/') {
    tag.name += static_cast<char>(std::tolower(static_cast<unsigned char>(html[at++])));
  }
  char quote = 0;
  for (; at < html.size(); ++at) {
    const char c = html[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '>') {
      tag.length = at + 1;
      const std::string_view whole = html.substr(0, tag.length);
      tag.empty = whole.ends_with("/>") || Holds(kVoid, tag.name);
      tag.keep = !tag.closing && (whole.find("translate=\"no\"") != std::string_view::npos ||
                                  whole.find("notranslate") != std::string_view::npos);
      return tag;
    }
  }
  ++*unended;
  return {};
}

// Where the element that begins at the front ends.
size_t ElementEnd(std::string_view html, const Tag& opening, int* unended) {
  int depth = 0;
  for (size_t at = 0; at < html.size();) {
    const Tag tag = html[at] == '<' ? TagAt(html.substr(at), unended) : Tag{};
    if (tag.length > 0 && tag.name == opening.name && !tag.empty) depth += tag.closing ? -1 : 1;
    at += std::max<size_t>(tag.length, 1);
    if (depth == 0) return at;
  }
  return html.size();
}

// Where what begins with <! or <? at the front ends.
size_t DeclarationEnd(std::string_view html) {
  const std::string_view closing = html.starts_with("<!--") ? "-->" : ">";
  const size_t end = html.find(closing, html.starts_with("<!--") ? 4 : 2);
  return end == std::string_view::npos ? html.size() : end + closing.size();
}

}  // namespace

class HtmlDocument::Reader {
 public:
  Reader(HtmlDocument* document, std::string_view html) : document_(document), rest_(html) {
    document_->between_.emplace_back();
  }

  void Read() {
    while (!rest_.empty()) {
      if (rest_[0] == '<') {
        ReadTag();
      } else if (rest_[0] == '&') {
        ReadEntity();
      } else {
        AddText(std::string(1, IsSpace(rest_[0]) ? ' ' : rest_[0]), 1);
      }
    }
    EndSegment();
  }

 private:
  struct Open {
    std::string name;
    size_t element;
  };

  void AddText(const std::string& text, size_t length) {
    segment_.text += text;
    Take(length);
  }

  void AddMark(size_t length) {
    segment_.marks.push_back({segment_.text.size(), std::string(rest_.substr(0, length))});
    Take(length);
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
    if (character > 0) return AddText(Utf8(character), end + 1);
    const bool named = std::ranges::all_of(
        name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '#'; });
    if (whole && named) return AddMark(end + 1);  // one that we do not know
    AddText("&", 1);
  }

  void ReadTag() {
    if (rest_.starts_with("<!") || rest_.starts_with("<?")) return AddMark(DeclarationEnd(rest_));
    const Tag tag = TagAt(rest_, &unended_);
    if (tag.length == 0) return AddText("<", 1);
    const bool in_line = Holds(kInline, tag.name);
    if (!tag.closing && (tag.keep || Holds(kRaw, tag.name))) {
      const size_t end = tag.empty ? tag.length : ElementEnd(rest_, tag, &unended_);
      return in_line ? AddMark(end) : AddDivision(end);
    }
    if (!in_line) return AddDivision(tag.length);
    if (tag.empty) return AddMark(tag.length);
    return tag.closing ? CloseElement(tag) : OpenElement(tag);
  }

  void OpenElement(const Tag& tag) {
    if (segment_.elements.size() >= kMostElements) {
      throw Error(ErrorKind::kInput,
                  fmt::format("a paragraph has more than {} tags; divide it", kMostElements));
    }
    open_.push_back({tag.name, segment_.elements.size()});
    const size_t at = segment_.text.size();
    segment_.elements.push_back({at, at, std::string(rest_.substr(0, tag.length)), ""});
    Take(tag.length);
  }

  void CloseElement(const Tag& tag) {
    const auto opening = std::find_if(open_.rbegin(), open_.rend(),
                                      [&](const Open& open) { return open.name == tag.name; });
    if (opening == open_.rend()) return AddMark(tag.length);
    Element& element = segment_.elements[opening->element];
    element.end = segment_.text.size();
    element.close = rest_.substr(0, tag.length);
    open_.erase(std::next(opening).base());
    Take(tag.length);
  }

  // What is open still stays a tag alone.
  void EndSegment() {
    for (const Open& open : open_) {
      const Element& element = segment_.elements[open.element];
      segment_.marks.push_back({element.begin, element.open});
    }
    std::erase_if(segment_.elements, [](const Element& element) { return element.close.empty(); });
    const auto before = [](const Mark& a, const Mark& b) { return a.at < b.at; };
    std::stable_sort(segment_.marks.begin(), segment_.marks.end(), before);
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
  std::string_view rest_;
  Segment segment_;
  std::vector<Open> open_;
  std::string raw_;  // the segment as it stood
  int unended_ = 0;
};

HtmlDocument::HtmlDocument(std::string_view html) { Reader(this, html).Read(); }

}  // namespace attend
