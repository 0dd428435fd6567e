// attend.Parser.
#include <fmt/format.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "attend/error.h"
#include "attend/tagger.h"
#include "python/module/bindings.h"
#include "python/module/interpreter.h"
#include "python/module/making.h"
#include "python/module/model_runner.h"
#include "python/module/options.h"
#include "python/module/texts.h"
#include "python/module/windows.h"
#include "tasks/parsing/parsing_options.h"

namespace attend {
namespace nb = nanobind;
namespace {

nb::object ResultOf(const ParsedText& parsed) {
  const nb::object make = PythonClass(kResultsModule, "Constituent");
  nb::list constituents;
  for (const Constituent& each : parsed.constituents)
    constituents.append(Make(make, each.label, each.begin, each.end));
  return Make(PythonClass(kResultsModule, "ParsedText"), StrOf(parsed.tree),
              nb::tuple(StrsOf(parsed.words)), nb::tuple(StrsOf(parsed.tags)),
              nb::tuple(constituents), nb::make_tuple(parsed.score, parsed.log_probability));
}

ParsingOptions OptionsOf(const nb::kwargs& given, const char* where) {
  ParsingOptions options;
  SetOptions(Fields(options), given, where);
  return options;
}

nb::list ParseAll(const Runner<Parser>& self, const std::vector<std::string>& texts,
                  const nb::kwargs& given) {
  ParsingOptions options = OptionsOf(given, "parse");
  nb::list results;
  InWindows(texts, [&](std::span<const std::string> window, Windows* windows) {
    std::vector<ParsedText> found;
    windows->Run([&](const std::atomic<bool>* stop) {
      options.stop = stop;
      found = self.task.Parse(window, options);
    });
    for (const ParsedText& each : found) results.append(ResultOf(each));
  });
  return results;
}

nb::list ParseAllWords(const Runner<Parser>& self,
                       const std::vector<std::vector<std::string>>& sentences,
                       const nb::kwargs& given) {
  ParsingOptions options = OptionsOf(given, "parse_words");
  for (size_t s = 0; s < sentences.size(); ++s) {
    if (std::ranges::count(sentences[s], "") == 0) continue;
    throw Error(ErrorKind::kUsage,
                fmt::format("parse_words: sentence {} holds an empty word; leave it out", s));
  }
  using Sentence = std::vector<std::string>;
  nb::list results;
  InWindows(sentences, [&](std::span<const Sentence> window, Windows* windows) {
    std::vector<ParsedText> found;
    windows->Run([&](const std::atomic<bool>* stop) {
      options.stop = stop;
      found = self.task.ParseWords(window, options);
    });
    for (const ParsedText& each : found) results.append(ResultOf(each));
  });
  return results;
}

// One sentence is a sequence of str that is not empty; all else is the next overload's.
nb::object ParseWordsOfOne(const Runner<Parser>& self, const nb::sequence& words,
                           const nb::kwargs& given) {
  const bool str = PyUnicode_Check(words.ptr());
  if (!str && (nb::len(words) == 0 || !PyUnicode_Check(words[0].ptr()))) throw nb::next_overload();
  return ParseAllWords(self, {TextsOf(words)}, given)[0];
}

nb::list ParseWordsOfMany(const Runner<Parser>& self, const nb::iterable& sentences,
                          const nb::kwargs& given) {
  std::vector<std::vector<std::string>> all;
  const nb::object iterator = IteratorOf(sentences);
  for (nb::object next = NextOf(iterator); next.is_valid(); next = NextOf(iterator))
    all.push_back(TextsOf(next));
  return ParseAllWords(self, all, given);
}

void BindParseWords(nb::class_<Runner<Parser>>& parser, const FieldList& fields) {
  const std::string signature = OptionsSignature(fields);
  const std::string help = OptionsHelp(
      "The tree of words that are divided already: those of one sentence, or of each of a list.",
      fields);
  parser
      .def("parse_words", &ParseWordsOfOne, nb::arg("words"), nb::arg("options"),
           nb::sig(fmt::format("def parse_words(self, words: collections.abc.Sequence[str], {}) -> "
                               "attend._results.ParsedText",
                               signature)
                       .c_str()),
           help.c_str())
      .def("parse_words", &ParseWordsOfMany, nb::arg("texts"), nb::arg("options"),
           nb::sig(fmt::format("def parse_words(self, texts: "
                               "collections.abc.Iterable[collections.abc.Iterable[str]], {}) -> "
                               "list[attend._results.ParsedText]",
                               signature)
                       .c_str()),
           help.c_str());
}

void BindParse(nb::class_<Runner<Parser>>& parser, const FieldList& fields) {
  const std::string signature = OptionsSignature(fields);
  const std::string help = OptionsHelp(
      "The constituency tree of a sentence of plain text, or of each of a list.", fields);
  parser
      .def(
          "parse",
          [](const Runner<Parser>& self, const nb::str& text, const nb::kwargs& given)
              -> nb::object { return ParseAll(self, {TextOf(text)}, given)[0]; },
          nb::arg("text"), nb::arg("options"),
          nb::sig(
              fmt::format("def parse(self, text: str, {}) -> attend._results.ParsedText", signature)
                  .c_str()),
          help.c_str())
      .def(
          "parse",
          [](const Runner<Parser>& self, const nb::iterable& texts, const nb::kwargs& given) {
            return ParseAll(self, TextsOf(texts), given);
          },
          nb::arg("texts"), nb::arg("options"),
          nb::sig(fmt::format("def parse(self, texts: collections.abc.Iterable[str], {}) -> "
                              "list[attend._results.ParsedText]",
                              signature)
                      .c_str()),
          help.c_str());
}

}  // namespace

void BindParser(nb::module_& module) {
  nb::class_<Runner<Parser>> parser(
      module, "Parser",
      "Builds the constituency trees of sentences. The same sentence gets the same tree, bit for\n"
      "bit, whatever else runs and however many threads do.");
  BindMaking(parser, "Parser");
  ParsingOptions options;
  BindParse(parser, Fields(options));
  BindParseWords(parser, Fields(options));
  parser
      .def_prop_ro(
          "constituents", [](const Runner<Parser>& self) { return self.task.constituents(); },
          nb::sig("def constituents(self, /) -> list[str]"), "The labels of constituents.")
      .def_prop_ro(
          "tags", [](const Runner<Parser>& self) { return self.task.tags(); },
          nb::sig("def tags(self, /) -> list[str]"), "The tags of words.");
}

}  // namespace attend
