// attend.bleu, attend.chrf and attend.ter.
#include "attend/metrics.h"

#include <fmt/format.h>

#include "attend/error.h"
#include "metrics/metric_fields.h"
#include "python/module/bindings.h"
#include "python/module/interpreter.h"
#include "python/module/options.h"
#include "python/module/texts.h"

namespace attend {
namespace nb = nanobind;
namespace {

// A list of texts is one set of references, a list of such lists several.
ReferenceSets ReferencesOf(nb::handle references) {
  const nb::object all = NewFromPython([&] { return PySequence_List(references.ptr()); });
  ReferenceSets sets;
  for (const nb::handle set : nb::borrow<nb::list>(all)) {
    if (PyUnicode_Check(set.ptr())) return {TextsOf(all)};
    sets.push_back(TextsOf(set));
  }
  return sets;
}

nb::object Score(const Metric& metric, nb::handle hypotheses, nb::handle references) {
  const std::vector<std::string> texts = TextsOf(hypotheses);
  const ReferenceSets sets = ReferencesOf(references);
  double score = 0;
  std::string signature, details;
  {
    const WithoutGil released;
    const MetricStatistics sums = SumStatistics(CorpusStatistics(metric, texts, sets));
    score = metric.Score(sums);
    signature = metric.Signature(sets.size());
    details = metric.Details(sums);
  }
  return Make(PythonClass("attend._results", "MetricScore"), score, metric.Name().c_str(),
              signature.c_str(), details.c_str());
}

struct BleuArguments {
  BleuOptions options;
  FieldList fields() { return Fields(options); }
  Bleu metric() const { return Bleu(options); }
};

struct ChrfArguments {
  ChrfOptions options;
  BleuOptions shared;  // `lowercase` is declared once for both metrics
  FieldList fields() { return Fields(options).Nest("", Fields(shared).Select({"lowercase"})); }
  Chrf metric() const {
    ChrfOptions all = options;
    all.lowercase = shared.lowercase;
    return Chrf(all);
  }
};

struct TerArguments {
  TerOptions options;
  FieldList fields() { return Fields(options); }
  Ter metric() const { return Ter(options); }
};

template <class Arguments>
void BindMetric(nb::module_& module, const char* name, const char* summary) {
  Arguments defaults;
  const FieldList fields = defaults.fields();
  const std::string signature = fmt::format(
      "def {}(hypotheses: collections.abc.Iterable[str], references: "
      "collections.abc.Iterable[str] | collections.abc.Iterable[collections.abc.Iterable[str]], "
      "{}) -> attend._results.MetricScore",
      name, OptionsSignature(fields));
  module.def(
      name,
      [name](const nb::object& hypotheses, const nb::object& references,
             const nb::kwargs& options) {
        Arguments arguments;
        SetOptions(arguments.fields(), options, name);
        return Score(arguments.metric(), hypotheses, references);
      },
      nb::arg("hypotheses"), nb::arg("references"), nb::arg("options"), nb::sig(signature.c_str()),
      OptionsHelp(summary, fields).c_str());
}

}  // namespace

void BindMetrics(nb::module_& module) {
  BindMetric<BleuArguments>(
      module, "bleu",
      "BLEU of a text against one reference a line, or several lists of them; equal to\n"
      "sacreBLEU's.");
  BindMetric<ChrfArguments>(
      module, "chrf",
      "chrF of a text against one reference a line, or several lists of them; equal to\n"
      "sacreBLEU's. chrF++ with word_order=2.");
  BindMetric<TerArguments>(
      module, "ter",
      "TER of a text against one reference a line, or several lists of them; equal to\n"
      "sacreBLEU's. Lower is better.");
}

}  // namespace attend
