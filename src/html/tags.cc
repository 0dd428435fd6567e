#include "html/tags.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <utility>

#include "text/ascii.h"

namespace attend {
namespace {

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

template <size_t n>
bool Holds(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Tags that never end, each of which costs a look at all that follows; after so many there are
// none.
constexpr int kMostUnended = 16;

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
    while (at_ < html_.size() && IsHtmlSpace(html_[at_])) ++at_;
  }

  // What stands before white space or one of `ends`.
  std::string_view TakeUntil(std::string_view ends) {
    const size_t begin = at_;
    while (at_ < html_.size() && !IsHtmlSpace(html_[at_]) && ends.find(html_[at_]) == ends.npos)
      ++at_;
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
      const bool begins = at == 0 || IsHtmlSpace(text[at - 1]);
      if (begins && (end == text.size() || IsHtmlSpace(text[end]))) return true;
    }
    return false;
  }

  std::string_view html_;
  size_t at_ = 1;
};

// Whether a closing tag of this name stands at the front.
bool Closes(std::string_view html, const std::string& name) {
  if (!html.starts_with("</") || LowerCase(html.substr(2, name.size())) != name) return false;
  const std::string_view rest = html.substr(2 + name.size());
  return !rest.empty() && (IsHtmlSpace(rest[0]) || rest[0] == '/' || rest[0] == '>');
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

bool Tag::in_line() const { return Holds(kInline, name) || name.find('-') != name.npos; }

std::vector<Tag> ScanTags(std::string_view html) { return TagScanner(html).Scan(); }

bool IsDeclaration(std::string_view html) {
  return html.starts_with("<!") || html.starts_with("<?");
}

size_t DeclarationEnd(std::string_view html) {
  if (!html.starts_with("<!--")) return std::min(html.find('>', 2), html.size() - 1) + 1;
  // As the standard ends comments that are not well formed, too.
  for (const std::string_view whole : {"<!-->", "<!--->"}) {
    if (html.starts_with(whole)) return whole.size();
  }
  for (size_t at = 4; (at = html.find("--", at)) != std::string_view::npos; ++at) {
    for (const std::string_view closing : {"-->", "--!>"}) {
      if (html.substr(at).starts_with(closing)) return at + closing.size();
    }
  }
  return html.size();
}

bool IsHtmlSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

}  // namespace attend
