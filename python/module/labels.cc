// attend.Tagger and attend.Classifier.
#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "attend/classifier.h"
#include "attend/tagger.h"
#include "python/module/bindings.h"
#include "python/module/interpreter.h"
#include "python/module/model_runner.h"
#include "python/module/options.h"
#include "python/module/texts.h"
#include "python/module/windows.h"

namespace attend {
namespace nb = nanobind;
namespace {

constexpr const char* kLabelled = "attend._results";

nb::tuple PartsOf(const std::vector<LabelledText>& parts) {
  const nb::object make = PythonClass(kLabelled, "LabelledText");
  nb::list all;
  for (const LabelledText& part : parts)
    all.append(Make(make, StrOf(part.text), part.label, part.begin, part.end, part.probability));
  return nb::tuple(all);
}

nb::object ResultOf(const TaggedText& tagged) {
  return Make(PythonClass(kLabelled, "TaggedText"), PartsOf(tagged.words),
              PartsOf(tagged.entities));
}

nb::object ResultOf(const Classification& found) {
  nb::list classes;
  for (const ClassProbability& each : found.classes)
    classes.append(nb::make_tuple(each.label, each.probability));
  return Make(PythonClass(kLabelled, "Classification"), nb::tuple(classes), found.cut);
}

std::vector<TaggedText> RunOn(const Tagger& tagger, std::span<const std::string> texts) {
  return tagger.Tag(texts);
}

std::vector<Classification> RunOn(const Classifier& classifier,
                                  std::span<const std::string> texts) {
  return classifier.Classify(texts);
}

template <class Runner>
nb::list LabelAll(const Runner& self, const std::vector<std::string>& texts) {
  nb::list results;
  InWindows(texts, [&](std::span<const std::string> window, Windows* windows) {
    decltype(RunOn(self, window)) found;
    windows->Run([&](const std::atomic<bool>*) { found = RunOn(self, window); });
    for (const auto& each : found) results.append(ResultOf(each));
  });
  return results;
}

// `method` ("tag") gives a `result` for a text, and a list of them for several.
template <class Runner>
void BindLabels(nb::module_& module, const char* name, const char* help, const char* method,
                const char* method_help, const char* result) {
  LoadingOptions options;
  const FieldList fields = Fields(options);
  nb::class_<Runner>(module, name, help)
      .def(
          "__init__",
          [name](Runner* self, const std::filesystem::path& path, const nb::kwargs& arguments) {
            LoadingOptions given;
            SetOptions(Fields(given), arguments, name);
            const WithoutGil released;
            new (self) Runner(Load(path, {.type = given.type}), static_cast<int>(given.threads));
          },
          nb::arg("path"), nb::arg("options"),
          nb::sig(fmt::format("def __init__(self, path: str | os.PathLike[str], {}) -> None",
                              OptionsSignature(fields))
                      .c_str()),
          OptionsHelp("Loads the model directory at `path`.", fields).c_str())
      .def_prop_ro(
          "labels", [](const Runner& self) { return self.labels(); },
          nb::sig("def labels(self, /) -> list[str]"), "The names of all labels.")
      .def_prop_ro(
          "instruction_set", [](const Runner& self) { return self.instruction_set(); },
          "The instruction set that runs, such as 'avx2'.")
      .def(
          method,
          [](const Runner& self, const nb::str& text) -> nb::object {
            return LabelAll(self, {TextOf(text)})[0];
          },
          nb::arg("text"),
          nb::sig(
              fmt::format("def {}(self, text: str) -> attend._results.{}", method, result).c_str()),
          method_help)
      .def(
          method,
          [](const Runner& self, const nb::iterable& texts) {
            return LabelAll(self, TextsOf(texts));
          },
          nb::arg("texts"),
          nb::sig(fmt::format("def {}(self, texts: collections.abc.Iterable[str]) -> "
                              "list[attend._results.{}]",
                              method, result)
                      .c_str()),
          method_help);
}

}  // namespace

void BindLabels(nb::module_& module) {
  BindLabels<Tagger>(
      module, "Tagger",
      "Labels the words of texts. The same text gets the same labels, bit for bit, whatever else\n"
      "runs and however many threads do.",
      "tag", "Labels of a text's words and its entities, or of each of a list.", "TaggedText");
  BindLabels<Classifier>(
      module, "Classifier",
      "Tells the class of texts. The same text gets the same probabilities, bit for bit, whatever\n"
      "else runs and however many threads do.",
      "classify", "The classes of a text, the likeliest first, or of each of a list.",
      "Classification");
}

}  // namespace attend
