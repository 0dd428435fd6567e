// How the classes of models are made from a model directory, and what they all tell of themselves.
#ifndef ATTEND_PYTHON_MODULE_MAKING_H_
#define ATTEND_PYTHON_MODULE_MAKING_H_

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>

#include <filesystem>

#include "python/module/interpreter.h"
#include "python/module/model_runner.h"
#include "python/module/options.h"
#include "python/module/texts.h"

namespace attend {

// `name`: as Python calls the class.
template <class Task>
void BindMaking(nanobind::class_<Runner<Task>>& model, const char* name) {
  namespace nb = nanobind;
  LoadingOptions options;
  const FieldList fields = Fields(options);
  model
      .def(
          "__init__",
          [name](Runner<Task>* self, const std::filesystem::path& path,
                 const nb::kwargs& arguments) {
            LoadingOptions given;
            SetOptions(Fields(given), arguments, name);
            given.path = path;
            const WithoutGil released;
            new (self) Runner<Task>(LoadFor(name, given), given);
          },
          nb::arg("path"), nb::arg("options"),
          nb::sig(fmt::format("def __init__(self, path: str | os.PathLike[str], {}) -> None",
                              OptionsSignature(fields))
                      .c_str()),
          OptionsHelp("Loads the model directory at `path`.", fields).c_str())
      .def("__repr__", [name](const Runner<Task>& self) { return StrOf(self.Repr(name)); })
      .def_prop_ro(
          "instruction_set", [](const Runner<Task>& self) { return self.task.instruction_set(); },
          "The instruction set that runs, such as 'avx2'.");
}

}  // namespace attend

#endif  // ATTEND_PYTHON_MODULE_MAKING_H_
