// What the module `attend._attend` is made of; one file each.
#ifndef ATTEND_PYTHON_MODULE_BINDINGS_H_
#define ATTEND_PYTHON_MODULE_BINDINGS_H_

#include <nanobind/nanobind.h>

namespace attend {

void BindMetrics(nanobind::module_& module);
void BindTranslator(nanobind::module_& module);
void BindVocabulary(nanobind::module_& module);

// A class of attend/_results.py or attend/_errors.py.
inline nanobind::object PythonClass(const char* file, const char* name) {
  return nanobind::module_::import_(file).attr(name);
}

}  // namespace attend

#endif  // ATTEND_PYTHON_MODULE_BINDINGS_H_
