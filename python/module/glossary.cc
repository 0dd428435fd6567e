// attend.Glossary.
#include "text/glossary.h"

#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <utility>

#include "attend/error.h"
#include "attend/translator.h"
#include "python/module/bindings.h"
#include "python/module/interpreter.h"
#include "python/module/texts.h"

namespace attend {
namespace nb = nanobind;
namespace {

void LoadGlossary(Glossary* self, const std::filesystem::path& path) {
  const WithoutGil released;
  new (self) Glossary(Glossary::Load(path)->terms());
}

// (source, target) or (source, target, flags).
GlossaryTerm TermFrom(const nb::handle& given, size_t number) {
  const std::string where = fmt::format("glossary term {}", number);
  if (nb::isinstance<nb::str>(given) || !nb::isinstance<nb::sequence>(given) ||
      nb::len(given) < 2 || nb::len(given) > 3) {
    throw Error(ErrorKind::kUsage,
                where +
                    " is no tuple of 2 or 3 texts; expected (source, target) or (source, "
                    "target, flags)");
  }
  std::vector<std::string> texts;
  for (const nb::handle member : nb::borrow<nb::sequence>(given)) {
    if (!nb::isinstance<nb::str>(member))
      throw Error(ErrorKind::kUsage, where + " has a member that is no text; expected str");
    texts.push_back(TextOf(nb::borrow<nb::str>(member)));
  }
  GlossaryTerm term{.source = texts[0], .target = texts[1]};
  if (texts.size() == 3) SetGlossaryFlags(texts[2], where, &term);
  return term;
}

void MakeGlossary(Glossary* self, const nb::iterable& terms) {
  std::vector<GlossaryTerm> all;
  for (const nb::handle term : terms) all.push_back(TermFrom(term, all.size() + 1));
  new (self) Glossary(std::move(all));
}

}  // namespace

std::shared_ptr<const Glossary> TakeGlossary(nb::kwargs* arguments) {
  return TakeObject<Glossary>(
      arguments, "glossary",
      "glossary is no attend.Glossary; make one of a file's path or of a list of (source, target)");
}

void BindGlossary(nb::module_& module) {
  nb::class_<Glossary>(module, "Glossary",
                       "Terms that translations must hold: an argument of Translator.translate.")
      .def("__init__", &LoadGlossary, nb::arg("path"),
           nb::sig("def __init__(self, path: str | os.PathLike[str]) -> None"),
           "Reads a file with a term a line: source, target and flags, divided by tabs.")
      .def("__init__", &MakeGlossary, nb::arg("terms"),
           nb::sig("def __init__(self, terms: collections.abc.Iterable[tuple[str, str] | "
                   "tuple[str, str, str]]) -> None"),
           "Of (source, target) or (source, target, flags); flags are divided by commas:\n"
           "ignore-case, inflect-source, inflect, keep.")
      .def("__len__", [](const Glossary& self) { return self.terms().size(); });
}

}  // namespace attend
