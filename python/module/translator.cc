// attend.Translator.
#include "attend/translator.h"

#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <deque>
#include <iterator>

#include "attend/error.h"
#include "python/module/attention.h"
#include "python/module/bindings.h"
#include "python/module/interpreter.h"
#include "python/module/model_runner.h"
#include "python/module/options.h"
#include "python/module/texts.h"
#include "python/module/windows.h"
#include "tasks/translation/translation_options.h"

namespace attend {
namespace nb = nanobind;
namespace {

TextOptions TextOptionsOf(nb::kwargs arguments, const char* where) {
  TextOptions options;
  options.translation.glossary = TakeGlossary(&arguments);
  options.lines.memory = TakeMemory(&arguments);
  SetOptions(Fields(options), arguments, where);
  CheckTranslationOptions(options.translation);
  return options;
}

ScoreOptions ScoreOptionsOf(const nb::kwargs& arguments) {
  ScoreOptions options;
  SetOptions(Fields(options), arguments, "score");
  return options;
}

nb::list LinksOf(const std::vector<AlignmentLink>& alignment) {
  nb::list links;
  for (const AlignmentLink& link : alignment) {
    links.append(nb::make_tuple(link.source, link.target));
  }
  return links;
}

// The hypotheses have a quality where `quality` was asked for.
nb::object ResultOf(const Translation& translation, bool quality) {
  const nb::object make = PythonClass(kResultsModule, "Hypothesis");
  nb::list hypotheses;
  for (const Hypothesis& hypothesis : translation.hypotheses) {
    const std::optional<double> asked = quality ? std::optional(hypothesis.quality) : std::nullopt;
    hypotheses.append(Make(make, StrOf(hypothesis.text), hypothesis.score,
                           hypothesis.log_probability, hypothesis.ids, hypothesis.finished,
                           LinksOf(hypothesis.alignment), hypothesis.protected_spans,
                           hypothesis.protected_kept, hypothesis.terms, hypothesis.terms_kept,
                           asked, hypothesis.word_quality, hypothesis.DoubtfulWords()));
  }
  return Make(PythonClass(kResultsModule, "Translation"), nb::tuple(hypotheses),
              translation.divided, translation.unknown_characters.size());
}

// The keyword argument `target_prefix`, which is taken out; null: it was not given.
nb::object TakePrefix(nb::kwargs* arguments) {
  constexpr const char* kName = "target_prefix";
  if (!arguments->contains(kName)) return {};
  const nb::object given = (*arguments)[kName];
  nb::del((*arguments)[kName]);
  return given;
}

// The texts from number `first` of a call on. `prefixes`: of each, or none.
std::vector<Translation> TranslateWindow(const ModelRunner& runner,
                                         std::span<const std::string> texts, int64_t first,
                                         TextOptions options, Windows* windows,
                                         std::span<const std::string> prefixes = {}) {
  std::vector<Translation> translations;
  windows->Run([&](const std::atomic<bool>* stop) {
    options.translation.stop = stop;
    translations = runner.Translate(texts, first, options, prefixes);
  });
  return translations;
}

// Translations of lines that come from an iterator, as they are asked for.
class LineStream {
 public:
  LineStream(std::shared_ptr<const ModelRunner> runner, nb::handle lines,
             const TextOptions& options)
      : runner_(std::move(runner)), lines_(IteratorOf(lines)), options_(options) {}

  // What an error ends stays ended, as a generator does: lines of its window are lost.
  nb::object Next() {
    if (ready_.empty()) {
      try {
        Fill();
      } catch (...) {
        lines_.reset();
        throw;
      }
    }
    if (ready_.empty()) throw nb::stop_iteration();
    nb::object next = ResultOf(ready_.front(), options_.translation.quality);
    ready_.pop_front();
    return next;
  }

  // What the collector of cycles asks for: both may lead back to the stream.
  nb::handle lines() const { return lines_; }
  nb::handle translator() const { return nb::find(std::const_pointer_cast<ModelRunner>(runner_)); }
  void LetGo() {
    lines_.reset();
    runner_.reset();
  }

 private:
  void Fill() {
    std::vector<std::string> texts;
    const int64_t first = first_;
    Repairs repairs;
    while (lines_.is_valid() && texts.size() < windows_.size()) {
      const nb::object line = NextOf(lines_);
      if (!line.is_valid()) break;
      texts.push_back(WithoutLineEnd(TextOf(line, first + std::ssize(texts), &repairs)));
    }
    Warn(repairs);
    if (texts.empty()) return;
    first_ += std::ssize(texts);
    std::vector<Translation> translations =
        TranslateWindow(*runner_, texts, first, options_, &windows_);
    std::move(translations.begin(), translations.end(), std::back_inserter(ready_));
  }

  static std::string WithoutLineEnd(std::string line) {
    if (line.ends_with('\n')) line.pop_back();
    if (line.ends_with('\r')) line.pop_back();
    return line;
  }

  std::shared_ptr<const ModelRunner> runner_;
  nb::object lines_;
  TextOptions options_;
  Windows windows_;
  std::deque<Translation> ready_;
  int64_t first_ = 0;
};

int TraverseStream(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const LineStream* stream = nb::inst_ptr<LineStream>(self);
  Py_VISIT(stream->lines().ptr());
  Py_VISIT(stream->translator().ptr());
  return 0;
}

int ClearStream(PyObject* self) {
  nb::inst_ptr<LineStream>(self)->LetGo();
  return 0;
}

nb::object TranslateOne(const ModelRunner& self, const nb::str& text, nb::kwargs arguments) {
  const nb::object prefix = TakePrefix(&arguments);
  const TextOptions options = TextOptionsOf(arguments, "translate");
  const std::vector<std::string> texts = {TextOf(text)};
  std::vector<std::string> prefixes;
  if (prefix.is_valid()) {
    CheckTargetPrefix(options.translation);
    prefixes.push_back(TextOf(prefix));
  }
  Windows windows;
  return ResultOf(TranslateWindow(self, texts, 0, options, &windows, prefixes).at(0),
                  options.translation.quality);
}

nb::object AlternativesOf(const ModelRunner& self, const nb::str& text, const nb::str& prefix,
                          int64_t count, nb::kwargs arguments) {
  TranslationOptions options;
  options.glossary = TakeGlossary(&arguments);
  SetOptions(Fields(options), arguments, "alternatives");
  const std::string source = TextOf(text), begin = TextOf(prefix);
  Translation found;
  Windows().Run([&](const std::atomic<bool>* stop) {
    options.stop = stop;
    found = self.translator().Alternatives(source, begin, count, options);
  });
  return ResultOf(found, options.quality);
}

nb::list TranslateList(const ModelRunner& self, const nb::iterable& texts, nb::kwargs arguments) {
  const nb::object prefix = TakePrefix(&arguments);
  const TextOptions options = TextOptionsOf(arguments, "translate");
  const std::vector<std::string> all = TextsOf(texts);
  std::vector<std::string> prefixes;
  if (prefix.is_valid()) {
    CheckTargetPrefix(options.translation);
    prefixes = TextsOf(prefix);
  }
  if (!prefixes.empty() && prefixes.size() != all.size()) {
    throw Error(ErrorKind::kUsage, fmt::format("{} target prefixes for {} texts; expected none or "
                                               "as many",
                                               prefixes.size(), all.size()));
  }
  Windows windows;
  nb::list results;
  for (size_t begin = 0; begin < all.size();) {
    const auto window = std::span(all).subspan(begin, std::min(windows.size(), all.size() - begin));
    for (const Translation& translation :
         TranslateWindow(self, window, static_cast<int64_t>(begin), options, &windows,
                         prefixes.empty() ? std::span<const std::string>()
                                          : std::span(prefixes).subspan(begin, window.size()))) {
      results.append(ResultOf(translation, options.translation.quality));
    }
    begin += window.size();
  }
  return results;
}

nb::list ScoreTexts(const ModelRunner& self, const std::vector<std::string>& sources,
                    const std::vector<std::string>& targets, ScoreOptions options) {
  if (sources.size() != targets.size()) {
    throw Error(ErrorKind::kUsage, fmt::format("score: {} sources and {} targets; expected as many "
                                               "of one as of the other",
                                               sources.size(), targets.size()));
  }
  const nb::object make = PythonClass(kResultsModule, "Score");
  std::vector<PairScore> scores;
  Windows windows;
  nb::list results;
  for (size_t begin = 0; begin < sources.size();) {
    const size_t count = std::min(windows.size(), sources.size() - begin);
    options.first_line = static_cast<int64_t>(begin) + 1;
    windows.Run([&](const std::atomic<bool>* stop) {
      options.stop = stop;
      scores = self.scorer().Score(std::span(sources).subspan(begin, count),
                                   std::span(targets).subspan(begin, count), options);
    });
    for (const PairScore& score : scores) {
      results.append(Make(make, score.log_probability, score.token_log_probabilities,
                          LinksOf(score.alignment)));
    }
    begin += count;
  }
  return results;
}

nb::object ScoreOne(const ModelRunner& self, const nb::str& source, const nb::str& target,
                    const nb::kwargs& arguments) {
  const ScoreOptions options = ScoreOptionsOf(arguments);
  return ScoreTexts(self, {TextOf(source)}, {TextOf(target)}, options)[0];
}

nb::list ScoreList(const ModelRunner& self, const nb::iterable& sources,
                   const nb::iterable& targets, const nb::kwargs& arguments) {
  const ScoreOptions options = ScoreOptionsOf(arguments);
  return ScoreTexts(self, TextsOf(sources), TextsOf(targets), options);
}

nb::object AttentionOf(const ModelRunner& self, const nb::str& source,
                       const std::optional<nb::str>& target) {
  const std::string source_text = TextOf(source);
  std::optional<std::string> target_text;
  if (target) target_text = TextOf(*target);
  PairAttention found;
  Windows().Run(
      [&](const std::atomic<bool>*) { found = self.Attention(source_text, target_text); });
  return Make(PythonClass(kResultsModule, "Attention"), StrOf(found.target),
              StrsOf(found.labels.source), StrsOf(found.labels.read), StrsOf(found.labels.written),
              ArrayOf(std::move(found.encoder)), ArrayOf(std::move(found.decoder)),
              ArrayOf(std::move(found.cross)));
}

void LoadTranslator(ModelRunner* self, const std::filesystem::path& path,
                    const nb::kwargs& arguments) {
  RunnerOptions options;
  SetOptions(Fields(options), arguments, "Translator");
  options.loading.path = path;
  const WithoutGil released;
  new (self) ModelRunner(LoadFor("Translator", options.loading), options);
}

// Translator.load: one that several models share.
std::shared_ptr<ModelRunner> LoadSeveral(const std::vector<std::filesystem::path>& paths,
                                         const std::vector<double>& weights,
                                         const nb::kwargs& arguments) {
  RunnerOptions options;
  SetOptions(Fields(options), arguments, "Translator.load");
  if (paths.empty()) throw Error(ErrorKind::kUsage, "Translator.load: no path of a model is given");
  if (paths.size() > 1 && !options.loading.adapter.empty())
    throw Error(ErrorKind::kUsage, "Translator.load: adapter is for one model, several are given");
  const WithoutGil released;
  std::vector<std::shared_ptr<const LoadedModel>> models;
  for (const std::filesystem::path& path : paths) {
    options.loading.path = path;
    models.push_back(LoadFor("Translator", options.loading));
  }
  options.loading.path = paths.front();
  return std::make_shared<ModelRunner>(std::move(models), weights, options);
}

template <const std::shared_ptr<const Vocabulary>& (ModelRunner::*vocabulary)() const>
std::shared_ptr<Vocabulary> VocabularyOf(const ModelRunner& self) {
  return std::const_pointer_cast<Vocabulary>((self.*vocabulary)());
}

using TranslatorClass = nb::class_<ModelRunner>;

void BindMaking(TranslatorClass& translator) {
  RunnerOptions options;
  const FieldList fields = Fields(options);
  translator
      .def("__init__", &LoadTranslator, nb::arg("path"), nb::arg("options"),
           nb::sig(fmt::format("def __init__(self, path: str | os.PathLike[str], {}) -> None",
                               OptionsSignature(fields))
                       .c_str()),
           OptionsHelp("Loads the model directory at `path`.", fields).c_str())
      .def_static(
          "load", &LoadSeveral, nb::arg("paths"), nb::arg("weights") = std::vector<double>(),
          nb::arg("options"),
          nb::sig(fmt::format("def load(paths: collections.abc.Sequence[str | os.PathLike[str]], "
                              "weights: collections.abc.Sequence[float] = (), {}) -> Translator",
                              OptionsSignature(fields))
                      .c_str()),
          OptionsHelp("Several models of equal vocabularies, which translate together: by the mean "
                      "of their\n"
                      "log-probabilities, weighted where `weights` has a number for each.",
                      fields)
              .c_str())
      .def_prop_ro(
          "instruction_set",
          [](const ModelRunner& self) { return self.translator().instruction_set(); },
          "The instruction set that runs, such as 'avx2'.")
      .def_prop_ro(
          "languages", [](const ModelRunner& self) { return nb::tuple(StrsOf(self.languages())); },
          nb::sig("def languages(self, /) -> tuple[str, ...]"),
          "Source and target, such as ('en', 'de'); empty where the model does not name them.")
      .def("__repr__", [](const ModelRunner& self) { return StrOf(self.Repr("Translator")); })
      .def_prop_ro("source_vocabulary", &VocabularyOf<&ModelRunner::source_vocabulary>,
                   nb::sig("def source_vocabulary(self, /) -> Vocabulary | None"),
                   "What cuts input into pieces; None where the model has no vocabulary.")
      .def_prop_ro("target_vocabulary", &VocabularyOf<&ModelRunner::target_vocabulary>,
                   nb::sig("def target_vocabulary(self, /) -> Vocabulary | None"),
                   "What joins pieces to output; None where the model has no vocabulary.");
}

void BindAlternatives(TranslatorClass& translator) {
  TranslationOptions options;
  const FieldList fields = Fields(options);
  translator.def(
      "alternatives", &AlternativesOf, nb::arg("text"), nb::arg("prefix") = "",
      nb::arg("count") = 5, nb::arg("options"),
      nb::sig(fmt::format("def alternatives(self, text: str, prefix: str = '', count: int = 5, "
                          "{}, glossary: Glossary | None = None) -> attend._results.Translation",
                          OptionsSignature(fields))
                  .c_str()),
      OptionsHelp(
          "What a translation may have after the words of `prefix`, each with the best rest: "
          "at\n"
          "most `count` hypotheses, which all differ in the next word, the best first. The "
          "text is\n"
          "translated as a whole.",
          fields)
          .c_str());
}

void BindTranslating(TranslatorClass& translator) {
  TextOptions options;
  const FieldList fields = Fields(options);
  const std::string keywords = OptionsSignature(fields);
  const std::string help = OptionsHelp(
      "Translates a line of text, or a list of them. A Translation is a str of the best output,\n"
      "which knows its score, its alignment and the other hypotheses. Outputs begin with the\n"
      "words of target_prefix, of a list of texts with those of each; such texts are not divided.\n"
      "They hold the terms of the glossary that their texts have. A text of the memory gets its\n"
      "target; others are read with their match where the model reads matches.",
      fields);
  translator
      .def("translate", &TranslateOne, nb::arg("text"), nb::arg("options"),
           nb::sig(fmt::format("def translate(self, text: str, {}, target_prefix: str = '', "
                               "glossary: Glossary | None = None, memory: TranslationMemory | None "
                               "= None) -> attend._results.Translation",
                               keywords)
                       .c_str()),
           help.c_str())
      .def("translate", &TranslateList, nb::arg("texts"), nb::arg("options"),
           nb::sig(fmt::format("def translate(self, texts: collections.abc.Iterable[str], {}, "
                               "target_prefix: collections.abc.Iterable[str] = (), "
                               "glossary: Glossary | None = None, memory: TranslationMemory | None "
                               "= None) -> list[attend._results.Translation]",
                               keywords)
                       .c_str()),
           help.c_str())
      .def(
          "translate_lines",
          [](std::shared_ptr<ModelRunner> self, const nb::iterable& lines,
             const nb::kwargs& arguments) {
            return LineStream(std::move(self), lines, TextOptionsOf(arguments, "translate_lines"));
          },
          nb::arg("lines"), nb::arg("options"),
          nb::sig(fmt::format("def translate_lines(self, lines: collections.abc.Iterable[str], {}, "
                              "glossary: Glossary | None = None, memory: TranslationMemory | None "
                              "= None) -> collections.abc.Iterator[attend._results.Translation]",
                              keywords)
                      .c_str()),
          OptionsHelp(
              "Translations of lines, in order, from any iterable, such as an open file: read as\n"
              "they are asked for, up to 4096 ahead. A line's end is not part of it.",
              fields)
              .c_str());
}

void BindScoring(TranslatorClass& translator) {
  ScoreOptions options;
  const FieldList fields = Fields(options);
  const std::string keywords = OptionsSignature(fields);
  const std::string help =
      OptionsHelp("Natural log-probability of a given translation, or of a list of them.", fields);
  translator
      .def("score", &ScoreOne, nb::arg("source"), nb::arg("target"), nb::arg("options"),
           nb::sig(
               fmt::format("def score(self, source: str, target: str, {}) -> attend._results.Score",
                           keywords)
                   .c_str()),
           help.c_str())
      .def("score", &ScoreList, nb::arg("sources"), nb::arg("targets"), nb::arg("options"),
           nb::sig(fmt::format("def score(self, sources: collections.abc.Iterable[str], targets: "
                               "collections.abc.Iterable[str], {}) -> list[attend._results.Score]",
                               keywords)
                       .c_str()),
           help.c_str())
      .def("attention", &AttentionOf, nb::arg("source"), nb::arg("target") = nb::none(),
           nb::sig("def attention(self, source: str, target: str | None = None) -> "
                   "attend._results.Attention"),
           "What looks at what. Where no target is given, the model translates.");
}

}  // namespace

void BindTranslator(nb::module_& module) {
  PyType_Slot stream_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(TraverseStream)},
                                {Py_tp_clear, reinterpret_cast<void*>(ClearStream)},
                                {0, nullptr}};
  nb::class_<LineStream>(module, "_LineStream", nb::type_slots(stream_slots))
      .def("__iter__", [](nb::handle self) { return self; })
      .def("__next__", &LineStream::Next);
  TranslatorClass translator(
      module, "Translator",
      "Translates sentences with a model directory. The same sentence gives the same text and\n"
      "score, bit for bit, whatever else runs and however many threads do. Calls from several\n"
      "threads share its threads and batches: a short one does not wait for a long one.");
  BindMaking(translator);
  BindTranslating(translator);
  BindAlternatives(translator);
  BindScoring(translator);
}

}  // namespace attend
