// What the module `attend._attend` is made of; one file each.
#ifndef ATTEND_PYTHON_MODULE_BINDINGS_H_
#define ATTEND_PYTHON_MODULE_BINDINGS_H_

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>

#include <memory>
#include <utility>

#include "attend/error.h"
#include "attend/translator.h"
#include "memory/translation_memory.h"
#include "python/module/interpreter.h"

namespace attend {

void BindGenerator(nanobind::module_& module);
void BindGlossary(nanobind::module_& module);
void BindHtml(nanobind::module_& module);
void BindItems(nanobind::module_& module);
void BindLabels(nanobind::module_& module);
void BindParser(nanobind::module_& module);
void BindLines(nanobind::module_& module);
void BindLoading(nanobind::module_& module);  // after the classes
void BindMemory(nanobind::module_& module);
void BindMetrics(nanobind::module_& module);
void BindTextEncoder(nanobind::module_& module);
void BindTranscriber(nanobind::module_& module);
void BindTranslator(nanobind::module_& module);
void BindVocabulary(nanobind::module_& module);
void BindWriting(nanobind::module_& module);

inline constexpr const char* kResultsModule = "attend._results";
// A class of attend/_results.py or attend/_errors.py.
inline nanobind::object PythonClass(const char* file, const char* name) {
  return NewFromPython([&] { return PyImport_ImportModule(file); }).attr(name);
}

// The object of a class of ours that is given by this keyword argument, which is taken out; null:
// none was given. Throws Error(kUsage) with `refusal` for another object.
template <class Bound>
std::shared_ptr<const Bound> TakeObject(nanobind::kwargs* arguments, const char* name,
                                        const char* refusal) {
  if (!arguments->contains(name)) return nullptr;
  const nanobind::object given = (*arguments)[name];
  nanobind::del((*arguments)[name]);
  if (given.is_none()) return nullptr;
  if (!nanobind::isinstance<Bound>(given)) throw Error(ErrorKind::kUsage, refusal);
  return nanobind::cast<std::shared_ptr<Bound>>(given);
}

// The keyword arguments `glossary` and `memory`, as TakeObject takes them.
std::shared_ptr<const Glossary> TakeGlossary(nanobind::kwargs* arguments);
std::shared_ptr<const TranslationMemory> TakeMemory(nanobind::kwargs* arguments);

template <class... Values>
nanobind::object Make(const nanobind::object& python_class, Values&&... values) {
  const nanobind::tuple all = nanobind::make_tuple(std::forward<Values>(values)...);
  return NewFromPython([&] { return PyObject_CallObject(python_class.ptr(), all.ptr()); });
}

}  // namespace attend

#endif  // ATTEND_PYTHON_MODULE_BINDINGS_H_
