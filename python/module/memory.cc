// attend.TranslationMemory.
#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "attend/error.h"
#include "memory/memory_file.h"
#include "python/module/bindings.h"
#include "python/module/interpreter.h"
#include "python/module/options.h"
#include "python/module/texts.h"

namespace attend {
namespace nb = nanobind;
namespace {

using MemoryPtr = std::shared_ptr<TranslationMemory>;

MemoryPtr OpenMemory(const std::filesystem::path& path, const std::string& source,
                     const std::string& target) {
  const WithoutGil released;
  return std::const_pointer_cast<TranslationMemory>(LoadMemory(path.string(), source, target));
}

// Of pairs of a source and its target.
MemoryPtr MemoryOf(nb::handle pairs) {
  std::vector<MemoryUnit> units;
  const nb::object iterator = IteratorOf(pairs);
  for (nb::object pair = NextOf(iterator); pair.is_valid(); pair = NextOf(iterator)) {
    std::vector<std::string> texts = TextsOf(pair);
    if (texts.size() != 2) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("TranslationMemory.of: unit {} has {} texts, expected a source and "
                              "its target",
                              units.size() + 1, texts.size()));
    }
    units.push_back({std::move(texts[0]), std::move(texts[1])});
  }
  const WithoutGil released;
  return std::make_shared<TranslationMemory>(std::move(units));
}

nb::object Find(const TranslationMemory& memory, const nb::str& text, const nb::kwargs& arguments) {
  MatchOptions options;
  SetOptions(Fields(options), arguments, "find");
  const std::string looked_for = TextOf(text);
  std::vector<MemoryMatch> matches;
  {
    const WithoutGil released;
    matches = memory.Find(looked_for, options);
  }
  nb::list found;
  const nb::object match = PythonClass(kResultsModule, "MemoryMatch");
  for (const MemoryMatch& one : matches)
    found.append(Make(match, one.score, StrOf(one.source), StrOf(one.target)));
  return found;
}

}  // namespace

std::shared_ptr<const TranslationMemory> TakeMemory(nb::kwargs* arguments) {
  return TakeObject<TranslationMemory>(
      arguments, "memory",
      "memory is no attend.TranslationMemory; make one of a file's path, or with "
      "TranslationMemory.of of pairs of a source and its target");
}

void BindMemory(nb::module_& module) {
  MatchOptions options;
  const FieldList fields = Fields(options);
  nb::class_<TranslationMemory>(module, "TranslationMemory",
                                "A translation memory: texts with their translations, and a search "
                                "for those near a text. An argument of Translator.translate.")
      .def(nb::new_(&OpenMemory), nb::arg("path"), nb::arg("source") = "", nb::arg("target") = "",
           "Reads a TMX whose name ends in .tmx, of these languages or those that it names, or\n"
           "lines of source, tab and target.")
      .def_static("of", &MemoryOf, nb::arg("units"),
                  nb::sig("def of(units: collections.abc.Iterable[tuple[str, str]]) -> "
                          "TranslationMemory"),
                  "A memory of pairs of a source and its target.")
      .def("find", &Find, nb::arg("text"), nb::arg("options"),
           nb::sig(fmt::format("def find(self, text: str, {}) -> list[attend._results.MemoryMatch]",
                               OptionsSignature(fields))
                       .c_str()),
           OptionsHelp("What the memory has near the text, the best first.", fields).c_str())
      .def("__len__", [](const TranslationMemory& self) { return self.size(); });
}

}  // namespace attend
