#include "python/module/texts.h"

#include <fmt/format.h>

#include <cstdint>

#include "python/module/bindings.h"
#include "python/module/interpreter.h"

namespace attend {
namespace nb = nanobind;

namespace {

// UTF-8 with each surrogate as three bytes, of which no other character's begin so.
std::string WithSurrogates(nb::handle value) {
  const nb::object bytes =
      nb::steal(PyUnicode_AsEncodedString(value.ptr(), "utf-8", "surrogatepass"));
  if (!bytes.is_valid()) throw nb::python_error();
  return {PyBytes_AsString(bytes.ptr()), static_cast<size_t>(PyBytes_Size(bytes.ptr()))};
}

}  // namespace

std::string TextOf(nb::handle value, int64_t number, Repairs* repairs) {
  if (!PyUnicode_Check(value.ptr())) {
    throw nb::type_error(
        fmt::format("expected a str, found {}", nb::type_name(value.type()).c_str()).c_str());
  }
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (bytes != nullptr) return {bytes, static_cast<size_t>(size)};
  if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError) == 0) throw nb::python_error();
  PyErr_Clear();
  std::string text = WithSurrogates(value);
  for (size_t i = 0; i + 2 < text.size(); ++i) {
    if (text[i] != '\xED' || static_cast<uint8_t>(text[i + 1]) < 0xA0) continue;
    text.replace(i, 3, "\xEF\xBF\xBD");
    if (repairs->count++ == 0) repairs->first = number;
  }
  return text;
}

std::string TextOf(nb::handle value) {
  Repairs repairs;
  std::string text = TextOf(value, 0, &repairs);
  Warn(repairs);
  return text;
}

void Warn(const Repairs& repairs) {
  if (repairs.count == 0) return;
  WarnOfMalformed(fmt::format("{} lone surrogate{} became U+FFFD, the first in text {}",
                              repairs.count, repairs.count == 1 ? "" : "s", repairs.first));
}

void WarnOfMalformed(const std::string& message) { WarnAs("MalformedTextWarning", message); }

void WarnAs(const char* warning, const std::string& message) {
  const nb::object category = PythonClass("attend._errors", warning);
  const int done =
      FromPython([&] { return PyErr_WarnEx(category.ptr(), message.c_str(), /*level*/ 1); });
  if (done != 0) throw nb::python_error();
}

void CutTexts::Add(bool cut, int64_t number) {
  if (cut && count++ == 0) first = number;
}

void Warn(const CutTexts& cut) {
  if (cut.count == 0) return;
  WarnAs("CutTextWarning",
         fmt::format("{}, of which the beginning was used; the first is text {}",
                     cut.count == 1
                         ? "1 text is longer than the model can read"
                         : fmt::format("{} texts are longer than the model can read", cut.count),
                     cut.first));
}

nb::object IteratorOf(nb::handle values) {
  return NewFromPython([&] { return PyObject_GetIter(values.ptr()); });
}

nb::object NextOf(nb::handle iterator) {
  nb::object next = nb::steal(FromPython([&] { return PyIter_Next(iterator.ptr()); }));
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return next;
}

std::vector<std::string> TextsOf(nb::handle values) {
  if (PyUnicode_Check(values.ptr())) {
    throw nb::type_error("expected a list of str, found one str; put it in a list");
  }
  std::vector<std::string> texts;
  Repairs repairs;
  const nb::object iterator = IteratorOf(values);
  for (nb::object next = NextOf(iterator); next.is_valid(); next = NextOf(iterator)) {
    texts.push_back(TextOf(next, std::ssize(texts), &repairs));
  }
  Warn(repairs);
  return texts;
}

nb::str StrOf(std::string_view text) {
  PyObject* decoded = PyUnicode_DecodeUTF8(text.data(), std::ssize(text), "replace");
  if (decoded == nullptr) throw nb::python_error();
  return nb::steal<nb::str>(decoded);
}

nb::list StrsOf(const std::vector<std::string>& texts) {
  nb::list strs;
  for (const std::string& text : texts) strs.append(StrOf(text));
  return strs;
}

}  // namespace attend
