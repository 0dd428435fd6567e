#include "python/module/texts.h"

#include <fmt/format.h>

namespace attend {
namespace nb = nanobind;

std::string TextOf(nb::handle value) {
  if (!PyUnicode_Check(value.ptr())) {
    throw nb::type_error(
        fmt::format("expected a str, found {}", nb::type_name(value.type()).c_str()).c_str());
  }
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (bytes == nullptr) throw nb::python_error();
  return {bytes, static_cast<size_t>(size)};
}

std::vector<std::string> TextsOf(nb::handle values) {
  if (PyUnicode_Check(values.ptr())) {
    throw nb::type_error("expected a list of str, found one str; put it in a list");
  }
  std::vector<std::string> texts;
  for (const nb::handle value : nb::iter(values)) texts.push_back(TextOf(value));
  return texts;
}

nb::str StrOf(std::string_view text) {
  PyObject* decoded = PyUnicode_DecodeUTF8(text.data(), std::ssize(text), "replace");
  if (decoded == nullptr) throw nb::python_error();
  return nb::steal<nb::str>(decoded);
}

}  // namespace attend
