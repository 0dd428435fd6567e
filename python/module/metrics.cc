// attend.bleu, attend.chrf and attend.ter.
#include "attend/metrics.h"

#include <fmt/format.h>

#include "attend/error.h"
#include "metrics/metric_fields.h"
#include "metrics/tokenizer_choice.h"
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

template <class Arguments>
nb::object Score(const Arguments& arguments, nb::handle hypotheses, nb::handle references) {
  const std::vector<std::string> texts = TextsOf(hypotheses);
  const ReferenceSets sets = ReferencesOf(references);
  const auto metric = arguments.metric();
  double score = 0;
  std::string signature, details;
  {
    const WithoutGil released;
    const MetricStatistics sums = SumStatistics(CorpusStatistics(metric, texts, sets));
    score = metric.Score(sums);
    signature = metric.Signature(sets.size());
    details = metric.Details(sums);
  }
  for (const std::string& warning : arguments.Warnings(texts, sets))
    WarnAs("ScoreWarning", warning);
  return Make(PythonClass(kResultsModule, "MetricScore"), score, metric.Name().c_str(),
              signature.c_str(), details.c_str());
}

struct BleuArguments {
  BleuOptions options;
  FieldList fields() { return Fields(options); }
  Bleu metric() const { return Bleu(options); }
  std::vector<std::string> Warnings(const std::vector<std::string>& hypotheses,
                                    const ReferenceSets& references) const {
    std::vector<NamedText> texts = {{"hypotheses", &hypotheses}};
    for (const std::vector<std::string>& set : references) texts.push_back({"references", &set});
    return BleuWarnings(options, texts);
  }
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
  std::vector<std::string> Warnings(const auto& /*hypotheses*/, const auto& /*references*/) const {
    return {};
  }
};

struct TerArguments {
  TerOptions options;
  FieldList fields() { return Fields(options); }
  Ter metric() const { return Ter(options); }
  std::vector<std::string> Warnings(const auto& /*hypotheses*/,
                                    const ReferenceSets& references) const {
    if (!TerNeedsCharacters(options, "", references[0])) return {};
    return {
        "TER takes what stands between white space for one word; normalized=True with "
        "asian_support=True cuts Chinese and Japanese text into characters"};
  }
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
        return Score(arguments, hypotheses, references);
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
