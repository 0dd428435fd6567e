// Text between Python and C++.
#ifndef ATTEND_PYTHON_MODULE_TEXTS_H_
#define ATTEND_PYTHON_MODULE_TEXTS_H_

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

namespace attend {

// The text of a str. Throws TypeError for anything else, UnicodeEncodeError for lone surrogates.
std::string TextOf(nanobind::handle value);

// The texts of an iterable of str. Throws TypeError for a single str too, whose characters nobody
// means.
std::vector<std::string> TextsOf(nanobind::handle values);

// A str; malformed UTF-8 becomes U+FFFD.
nanobind::str StrOf(std::string_view text);

}  // namespace attend

#endif  // ATTEND_PYTHON_MODULE_TEXTS_H_
