// Tells what is no plain text, by what it begins with.
#ifndef ATTEND_TEXT_TEXT_FORMAT_H_
#define ATTEND_TEXT_TEXT_FORMAT_H_

#include <string>
#include <string_view>

namespace attend {

// "a PDF document; extract its text first", for a file that begins with these bytes, of which the
// first 64 KiB count; empty for plain text, be it malformed, and where it can't be told. Some lines
// with tabs, and lines that begin as markup or JSON does, make no other format.
std::string ForeignFormat(std::string_view beginning);
// The same, of formats that are no text in UTF-8 at all: empty for markup, JSON and tables.
std::string BinaryFormat(std::string_view beginning);

}  // namespace attend

#endif  // ATTEND_TEXT_TEXT_FORMAT_H_
