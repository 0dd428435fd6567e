#include "python/module/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "attend/error.h"
#include "base/excerpt.h"
#include "python/module/texts.h"

namespace attend {
namespace nb = nanobind;
namespace {

// Integers beyond int64_t are in no option's range; as numbers they are refused there.
void SetInteger(const Field& field, nb::handle value, const std::string& where) {
  const nb::object integer = nb::steal(PyNumber_Index(value.ptr()));
  if (!integer.is_valid()) throw nb::python_error();
  int overflow = 0;
  const int64_t number = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
  if (overflow == 0) return field.Set(number, where);
  field.Set(overflow * std::numeric_limits<double>::infinity(), where);
}

void SetOption(const Field& field, nb::handle value, const std::string& where) {
  PyObject* const object = value.ptr();
  if (PyBool_Check(object)) return field.Set(object == Py_True, where);
  if (PyFloat_Check(object)) return field.Set(PyFloat_AsDouble(object), where);
  if (PyIndex_Check(object)) return SetInteger(field, value, where);  // NumPy's integers too
  if (PyUnicode_Check(object)) return field.Set(TextOf(value), where);
  if (PyList_Check(object) || PyTuple_Check(object)) return field.Set(TextsOf(value), where);
  if (nb::hasattr(value, "__fspath__")) return field.Set(TextOf(value.attr("__fspath__")()), where);
  throw Error(ErrorKind::kConfiguration,
              fmt::format("{}: {} is {}, expected {}", where, field.name,
                          Excerpt(nb::repr(value).c_str()), field.TypeName()));
}

struct Annotation {
  std::string type, value;
};

Annotation AnnotationOf(const Field& field) {
  if (auto* const* flag = std::get_if<bool*>(&field.value)) {
    return {"bool", **flag ? "True" : "False"};
  }
  if (std::holds_alternative<int64_t*>(field.value)) return {"int", field.ValueText()};
  if (std::holds_alternative<double*>(field.value)) return {"float", field.ValueText()};
  if (field.IsList()) return {"str | list[str] | tuple[str, ...]", "()"};  // of texts, and empty
  const std::string text = fmt::format("'{}'", field.ValueText());
  if (const auto* choice = std::get_if<EnumField>(&field.value)) {
    return {fmt::format("typing.Literal['{}']", fmt::join(choice->names, "', '")), text};
  }
  return {"str", text};
}

}  // namespace

void SetOptions(const FieldList& fields, const nb::kwargs& options, const std::string& where) {
  for (const auto [name, value] : options) SetOption(fields.Get(TextOf(name), where), value, where);
}

std::string OptionsSignature(const FieldList& fields) {
  std::string signature = "*";
  for (const Field& field : fields.fields()) {
    const Annotation annotation = AnnotationOf(field);
    signature += fmt::format(", {}: {} = {}", field.name, annotation.type, annotation.value);
  }
  return signature;
}

std::string OptionsHelp(const std::string& summary, const FieldList& fields) {
  std::string help = summary + "\n\nOptions:\n";
  for (const Field& field : fields.fields()) {
    const std::string range = field.RangeText();
    help += fmt::format("    {}: {}{}\n", field.name, field.help,
                        range.empty() ? "" : fmt::format(" ({})", range));
  }
  return help;
}

}  // namespace attend
