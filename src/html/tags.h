// The tags of an HTML document, and where the elements end that they open.
#ifndef ATTEND_HTML_TAGS_H_
#define ATTEND_HTML_TAGS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

struct Tag {
  size_t begin = 0, length = 0;                       // in the document
  std::string name;                                   // in lower case
  bool closing = false, empty = false, keep = false;  // keep: not to be translated
  size_t end = 0;                                     // of its element, where it opens one
  size_t id_begin = 0, id_end = 0;                    // of its attribute id, from the tag's begin

  // Whether it stands inside a line of text. All others divide; custom elements do not, as in
  // browsers.
  bool in_line() const;
};

// All of them in their order, but those in scripts and the like; in one pass. An element ends where
// it is closed, where the one around it is, or where what follows says so, since </p>, </li> and
// the like may be left out. One that stands inside a line and is not closed itself ends where the
// text is divided.
std::vector<Tag> ScanTags(std::string_view html);

// Comments, doctypes, processing instructions: what begins with <! or <?
bool IsDeclaration(std::string_view html);
// Where the one at the front ends.
size_t DeclarationEnd(std::string_view html);

// White space as HTML has it.
bool IsHtmlSpace(char c);

}  // namespace attend

#endif  // ATTEND_HTML_TAGS_H_
