#include "python/module/paths.h"

#include <fmt/format.h>

#include "python/module/texts.h"

namespace attend {
namespace nb = nanobind;

std::string PathOf(nb::handle value) {
  if (PyBytes_Check(value.ptr())) {
    throw nb::type_error("expected a path, a str or an os.PathLike, found bytes");
  }
  const nb::bytes path{nb::module_::import_("os").attr("fsencode")(value)};
  return {path.c_str(), path.size()};
}

void RefuseOnePath(nb::handle values) {
  const bool one = PyUnicode_Check(values.ptr()) || PyBytes_Check(values.ptr()) ||
                   PyObject_HasAttrString(values.ptr(), "__fspath__");
  if (!one) return;
  throw nb::type_error(fmt::format("expected a list, found one {}; put it in a list",
                                   nb::type_name(values.type()).c_str())
                           .c_str());
}

std::vector<std::string> PathsOf(nb::handle values) {
  RefuseOnePath(values);
  std::vector<std::string> paths;
  const nb::object iterator = IteratorOf(values);
  for (nb::object next = NextOf(iterator); next.is_valid(); next = NextOf(iterator))
    paths.push_back(PathOf(next));
  return paths;
}

}  // namespace attend
