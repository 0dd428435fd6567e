// attend.Tagger and attend.Classifier.
#include <fmt/format.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>

#include "attend/classifier.h"
#include "attend/error.h"
#include "attend/tagger.h"
#include "media/fit_picture.h"
#include "python/module/arrays.h"
#include "python/module/attention.h"
#include "python/module/bindings.h"
#include "python/module/interpreter.h"
#include "python/module/making.h"
#include "python/module/model_runner.h"
#include "python/module/options.h"
#include "python/module/pictures.h"
#include "python/module/texts.h"
#include "python/module/windows.h"
#include "tasks/classification/picture_attention.h"
#include "tasks/encoder_attention.h"

namespace attend {
namespace nb = nanobind;
namespace {

nb::tuple PartsOf(const std::vector<LabelledText>& parts) {
  const nb::object make = PythonClass(kResultsModule, "LabelledText");
  nb::list all;
  for (const LabelledText& part : parts)
    all.append(Make(make, StrOf(part.text), part.label, part.begin, part.end, part.probability));
  return nb::tuple(all);
}

nb::object ResultOf(const TaggedText& tagged) {
  return Make(PythonClass(kResultsModule, "TaggedText"), PartsOf(tagged.words),
              PartsOf(tagged.entities));
}

nb::object ResultOf(const Classification& found) {
  nb::list classes;
  for (const ClassProbability& each : found.classes)
    classes.append(nb::make_tuple(each.label, each.probability));
  return Make(PythonClass(kResultsModule, "Classification"), nb::tuple(classes), found.cut);
}

bool IsCut(const TaggedText&) { return false; }  // long texts are read in parts
bool IsCut(const Classification& found) { return found.cut; }

std::vector<TaggedText> RunOn(const Tagger& tagger, std::span<const std::string> texts,
                              const std::atomic<bool>* stop) {
  return tagger.Tag(texts, stop);
}

std::vector<Classification> RunOn(const Classifier& classifier, std::span<const std::string> texts,
                                  const std::atomic<bool>* stop) {
  return classifier.Classify(texts, stop);
}

template <class Task>
nb::list LabelAll(const Runner<Task>& self, const std::vector<std::string>& texts) {
  nb::list results;
  CutTexts cut;
  InWindows(texts, [&](std::span<const std::string> window, Windows* windows) {
    decltype(RunOn(self.task, window, nullptr)) found;
    windows->Run([&](const std::atomic<bool>* stop) { found = RunOn(self.task, window, stop); });
    for (const auto& each : found) {
      cut.Add(IsCut(each), static_cast<int64_t>(nb::len(results)));
      results.append(ResultOf(each));
    }
  });
  Warn(cut);
  return results;
}

nb::list ClassifyPictures(const Runner<Classifier>& self, const nb::object& pictures) {
  nb::list results;
  InPictureWindows(pictures, [&](const GivenPictures& given, Windows* windows) {
    std::vector<Classification> found;
    windows->Run([&](const std::atomic<bool>* stop) {
      found = self.task.ClassifyPictures(given.files, given.names, stop);
    });
    for (const Classification& each : found) results.append(ResultOf(each));
  });
  return results;
}

nb::object AttentionOverPicture(const Runner<Classifier>& self, const nb::handle& picture) {
  if (!self.task.reads_pictures())
    throw Error(ErrorKind::kUsage, "picture_attention is for a model that reads pictures");
  std::string name = "the picture";
  const std::string file = PictureOf(picture, &name);
  const ModelConfig& config = self.loaded->config();
  PictureAttention found;
  Windows().Run([&](const std::atomic<bool>*) {
    const Picture read = DecodeFitted(file, name, *config.patches);
    found = PictureAttentionOf(AttentionOfPicture(*self.loaded, read.pixels), config);
  });
  const std::vector<size_t> map = {static_cast<size_t>(found.rows),
                                   static_cast<size_t>(found.columns)};
  return Make(PythonClass(kResultsModule, "InputAttention"), ArrayOf(found.heads, map),
              ArrayOf(std::move(found.rollout), map));
}

nb::list TagAllWords(const Runner<Tagger>& self,
                     const std::vector<std::vector<std::string>>& sentences) {
  for (size_t s = 0; s < sentences.size(); ++s) {
    if (std::ranges::count(sentences[s], "") == 0) continue;
    throw Error(ErrorKind::kUsage,
                fmt::format("tag_words: sentence {} holds an empty word; leave it out", s));
  }
  using Sentence = std::vector<std::string>;
  nb::list results;
  InWindows(sentences, [&](std::span<const Sentence> window, Windows* windows) {
    std::vector<TaggedText> found;
    windows->Run([&](const std::atomic<bool>* stop) { found = self.task.TagWords(window, stop); });
    for (const TaggedText& each : found) results.append(ResultOf(each));
  });
  return results;
}

// One sentence is a sequence of str that is not empty; all else is the next overload's.
nb::object TagWordsOfOne(const Runner<Tagger>& self, const nb::sequence& words) {
  const bool str = PyUnicode_Check(words.ptr());
  if (!str && (nb::len(words) == 0 || !PyUnicode_Check(words[0].ptr()))) throw nb::next_overload();
  return TagAllWords(self, {TextsOf(words)})[0];
}

nb::list TagWordsOfMany(const Runner<Tagger>& self, const nb::iterable& sentences) {
  std::vector<std::vector<std::string>> all;
  const nb::object iterator = IteratorOf(sentences);
  for (nb::object next = NextOf(iterator); next.is_valid(); next = NextOf(iterator))
    all.push_back(TextsOf(next));
  return TagAllWords(self, all);
}

void BindTagWords(nb::class_<Runner<Tagger>>& tagger) {
  const char* help =
      "Labels of words that are divided already: those of one text, or of each of a list.\n"
      "Positions count in the words joined by blanks.";
  tagger
      .def("tag_words", &TagWordsOfOne, nb::arg("words"),
           nb::sig("def tag_words(self, words: collections.abc.Sequence[str]) -> "
                   "attend._results.TaggedText"),
           help)
      .def("tag_words", &TagWordsOfMany, nb::arg("texts"),
           nb::sig("def tag_words(self, texts: "
                   "collections.abc.Iterable[collections.abc.Iterable[str]]) -> "
                   "list[attend._results.TaggedText]"),
           help);
}

// `method` ("tag") gives a `result` for a text, and a list of them for several.
template <class Task>
void BindLabelling(nb::class_<Runner<Task>>& model, const char* method, const char* help,
                   const char* result) {
  model
      .def(
          method,
          [](const Runner<Task>& self, const nb::str& text) -> nb::object {
            return LabelAll(self, {TextOf(text)})[0];
          },
          nb::arg("text"),
          nb::sig(
              fmt::format("def {}(self, text: str) -> attend._results.{}", method, result).c_str()),
          help)
      .def(
          method,
          [](const Runner<Task>& self, const nb::iterable& texts) {
            return LabelAll(self, TextsOf(texts));
          },
          nb::arg("texts"),
          nb::sig(fmt::format("def {}(self, texts: collections.abc.Iterable[str]) -> "
                              "list[attend._results.{}]",
                              method, result)
                      .c_str()),
          help)
      .def_prop_ro(
          "labels", [](const Runner<Task>& self) { return self.task.labels(); },
          nb::sig("def labels(self, /) -> list[str]"), "The names of all labels.");
}

}  // namespace

void BindLabels(nb::module_& module) {
  nb::class_<Runner<Tagger>> tagger(
      module, "Tagger",
      "Labels the words of texts. The same text gets the same labels, bit for bit, whatever else\n"
      "runs and however many threads do.");
  BindMaking(tagger, "Tagger");
  BindLabelling(tagger, "tag", "Labels of a text's words and its entities, or of each of a list.",
                "TaggedText");
  BindTagWords(tagger);
  BindAttention(tagger);
  nb::class_<Runner<Classifier>> classifier(
      module, "Classifier",
      "Tells the class of texts. The same text gets the same probabilities, bit for bit, whatever\n"
      "else runs and however many threads do.");
  BindMaking(classifier, "Classifier");
  BindLabelling(classifier, "classify",
                "The classes of a text, the likeliest first, or of each of a list.",
                "Classification");
  BindAttention(classifier);
  classifier
      .def("classify_pictures", &ClassifyPictures, nb::arg("pictures"),
           nb::sig(fmt::format("def classify_pictures(self, pictures: {}) -> "
                               "list[attend._results.Classification]",
                               kPicturesType)
                       .c_str()),
           "The classes of pictures, with a model that reads pictures: paths of PNG or JPEG files, "
           "or their bytes.")
      .def("picture_attention", &AttentionOverPicture, nb::arg("picture"),
           nb::sig("def picture_attention(self, picture: str | os.PathLike[str] | bytes) -> "
                   "attend._results.InputAttention"),
           "What a model of pictures looks at in a PNG or JPEG file, or its bytes.")
      .def_prop_ro(
          "reads_pictures",
          [](const Runner<Classifier>& self) { return self.task.reads_pictures(); },
          nb::sig("def reads_pictures(self, /) -> bool"),
          "Whether the model reads pictures in place of text.");
}

}  // namespace attend
