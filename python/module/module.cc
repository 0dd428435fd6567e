// The module `attend._attend`: the package's C++ side.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "attend/error.h"
#include "base/failure.h"
#include "python/module/bindings.h"
#include "python/module/interpreter.h"
#include "python/module/texts.h"
#include "tasks/extend_directory.h"
#include "tasks/quantize_directory.h"

namespace nb = nanobind;

namespace attend {
namespace {

const char* ExceptionName(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return "UsageError";
    case ErrorKind::kConfiguration:
      return "ConfigurationError";
    case ErrorKind::kInput:
      return "InputError";
    case ErrorKind::kRuntime:
      break;
  }
  return "RunError";
}

void Translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const nb::object type = PythonClass("attend._errors", ExceptionName(error.kind()));
    PyErr_SetObject(type.ptr(), StrOf(error.what()).ptr());
  } catch (const std::filesystem::filesystem_error& error) {
    const nb::object type = PythonClass("attend._errors", "RunError");
    PyErr_SetObject(type.ptr(), StrOf(MessageOf(error)).ptr());
  }
}

}  // namespace
}  // namespace attend

NB_MODULE(_attend, module) {
  using namespace attend;
  nb::register_exception_translator(Translate);
  nb::set_leak_warnings(false);  // threads that translate when the program ends hold what they use
  module.attr("version") = ATTEND_VERSION;
  BindGlossary(module);  // before what takes it
  BindTranslator(module);
  BindGenerator(module);
  BindHtml(module);
  BindLabels(module);
  BindItems(module);
  BindParser(module);
  BindTextEncoder(module);
  BindTranscriber(module);
  BindVocabulary(module);
  BindLoading(module);
  BindMemory(module);
  BindMetrics(module);
  BindLines(module);
  BindWriting(module);
  module.def(
      "quantize",
      [](const std::filesystem::path& model, const std::filesystem::path& output) {
        const WithoutGil released;
        QuantizeDirectory(model, output);
      },
      nb::arg("model"), nb::arg("output"),
      nb::sig(
          "def quantize(model: str | os.PathLike[str], output: str | os.PathLike[str]) -> None"),
      "Writes the model directory `output`: `model` with int8 weights, a quarter of the size.");
  module.def(
      "extend",
      [](const std::filesystem::path& model, const std::vector<std::string>& tokens,
         const std::filesystem::path& output) {
        const WithoutGil released;
        return ExtendDirectory(model, tokens, output);
      },
      nb::arg("model"), nb::arg("tokens"), nb::arg("output"),
      nb::sig("def extend(model: str | os.PathLike[str], tokens: list[str], "
              "output: str | os.PathLike[str]) -> int"),
      "Writes the model directory `output`: `model` with one more token for each text, to be\n"
      "trained. Returns the id of the first one.");
}
