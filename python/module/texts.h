// Text between Python and C++.
#ifndef ATTEND_PYTHON_MODULE_TEXTS_H_
#define ATTEND_PYTHON_MODULE_TEXTS_H_

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

// Lone surrogates, which became U+FFFD as malformed UTF-8 does in files, counted over the texts of
// a call.
struct Repairs {
  int64_t count = 0;
  int64_t first = 0;  // number of the first text that had some
};

// The text of a str. Throws TypeError for anything else. Warns of repairs where none are given.
std::string TextOf(nanobind::handle value);
std::string TextOf(nanobind::handle value, int64_t number, Repairs* repairs);

// attend.MalformedTextWarning, where there is something to tell.
void Warn(const Repairs& repairs);
void WarnOfMalformed(const std::string& message);

// Texts of a call of which only the beginning was read.
struct CutTexts {
  int64_t count = 0;
  int64_t first = 0;  // number of the first one

  void Add(bool cut, int64_t number);
};
// attend.CutTextWarning, where there is something to tell.
void Warn(const CutTexts& cut);

// With a class of attend._errors.
void WarnAs(const char* warning, const std::string& message);

// The iterator of an iterable. Throws TypeError for a value that is none.
nanobind::object IteratorOf(nanobind::handle values);
// An iterator's next item; invalid at its end.
nanobind::object NextOf(nanobind::handle iterator);

// The texts of an iterable of str. Throws TypeError for a single str too, whose characters nobody
// means.
std::vector<std::string> TextsOf(nanobind::handle values);

// A str; malformed UTF-8 becomes U+FFFD.
nanobind::str StrOf(std::string_view text);
nanobind::list StrsOf(const std::vector<std::string>& texts);

}  // namespace attend

#endif  // ATTEND_PYTHON_MODULE_TEXTS_H_
