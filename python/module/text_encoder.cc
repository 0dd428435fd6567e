// attend.Encoder.
#include "attend/text_encoder.h"

#include <fmt/format.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>
#include <vector>

#include "python/module/attention.h"
#include "python/module/bindings.h"
#include "python/module/interpreter.h"
#include "python/module/making.h"
#include "python/module/model_runner.h"
#include "python/module/options.h"
#include "python/module/pictures.h"
#include "python/module/texts.h"
#include "python/module/vector_rows.h"
#include "python/module/windows.h"
#include "tasks/masked_language_model/text_encoder_options.h"

namespace attend {
namespace nb = nanobind;
namespace {

using EncoderOfTexts = Runner<TextEncoder>;

nb::object ResultOf(const FilledText& filled) {
  const nb::object make = PythonClass(kResultsModule, "FillingToken");
  nb::list masks;
  for (const std::vector<FillingToken>& tokens : filled.masks) {
    nb::list likeliest;
    for (const FillingToken& token : tokens)
      likeliest.append(Make(make, StrOf(token.text), token.begins_word, token.probability));
    masks.append(nb::tuple(likeliest));
  }
  return Make(PythonClass(kResultsModule, "FilledText"), StrOf(filled.text), nb::tuple(masks),
              filled.cut);
}

nb::list FillAll(const EncoderOfTexts& self, const std::vector<std::string>& texts,
                 const nb::kwargs& options) {
  FillOptions given;
  SetOptions(Fields(given), options, "fill");
  const ModelConfig& config = self.loaded->config();
  CheckClass(config, "Encoder.fill", config.task == "masked_language_model");
  std::vector<FilledText> filled;
  InWindows(texts, [&](std::span<const std::string> window, Windows* windows) {
    windows->Run([&](const std::atomic<bool>* stop) {
      for (FilledText& each : self.task.Fill(window, given.top, stop))
        filled.push_back(std::move(each));
    });
  });
  nb::list results;
  CutTexts cut;
  for (const FilledText& each : filled) {
    cut.Add(each.cut, static_cast<int64_t>(nb::len(results)));
    results.append(ResultOf(each));
  }
  Warn(cut);
  return results;
}

nb::object EmbedAll(const EncoderOfTexts& self, const std::vector<std::string>& texts, bool one,
                    const nb::kwargs& options) {
  EmbeddingOptions given;
  SetOptions(Fields(given), options, "embed");
  VectorRows rows(self.task.width());
  InWindows(texts, [&](std::span<const std::string> window, Windows* windows) {
    windows->Run([&](const std::atomic<bool>* stop) {
      for (const TextVector& each : self.task.Embed(window, given, stop))
        rows.Add(each.values_D, each.cut);
    });
  });
  return std::move(rows).ToNumpy(one);
}

nb::object EmbedPictures(const EncoderOfTexts& self, const nb::object& pictures,
                         const nb::kwargs& options) {
  EmbeddingOptions given;
  SetOptions(Fields(given), options, "embed_pictures");
  VectorRows rows(self.task.width());
  InPictureWindows(pictures, [&](const GivenPictures& read, Windows* windows) {
    windows->Run([&](const std::atomic<bool>* stop) {
      for (const TextVector& each : self.task.EmbedPictures(read.files, read.names, given, stop))
        rows.Add(each.values_D, each.cut);
    });
  });
  return std::move(rows).ToNumpy(/*one=*/false);
}

void BindFill(nb::class_<EncoderOfTexts>& encoder) {
  FillOptions options;
  const FieldList fields = Fields(options);
  const std::string signature = OptionsSignature(fields);
  const std::string help = OptionsHelp(
      "The likeliest tokens where [MASK] stands in a text, or in each of a list. For masked\n"
      "language models.",
      fields);
  encoder
      .def(
          "fill",
          [](const EncoderOfTexts& self, const nb::str& text, const nb::kwargs& options)
              -> nb::object { return FillAll(self, {TextOf(text)}, options)[0]; },
          nb::arg("text"), nb::arg("options"),
          nb::sig(
              fmt::format("def fill(self, text: str, {}) -> attend._results.FilledText", signature)
                  .c_str()),
          help.c_str())
      .def(
          "fill",
          [](const EncoderOfTexts& self, const nb::iterable& texts, const nb::kwargs& options) {
            return FillAll(self, TextsOf(texts), options);
          },
          nb::arg("texts"), nb::arg("options"),
          nb::sig(fmt::format("def fill(self, texts: collections.abc.Iterable[str], {}) -> "
                              "list[attend._results.FilledText]",
                              signature)
                      .c_str()),
          help.c_str());
}

void BindEmbed(nb::class_<EncoderOfTexts>& encoder) {
  EmbeddingOptions options;
  const FieldList fields = Fields(options);
  const std::string help =
      OptionsHelp("A text's vector, [width], or those of a list, [texts, width].", fields);
  const std::string returned = "numpy.typing.NDArray[numpy.float32]";
  encoder
      .def(
          "embed",
          [](const EncoderOfTexts& self, const nb::str& text, const nb::kwargs& given) {
            return EmbedAll(self, {TextOf(text)}, /*one=*/true, given);
          },
          nb::arg("text"), nb::arg("options"),
          nb::sig(fmt::format("def embed(self, text: str, {}) -> {}", OptionsSignature(fields),
                              returned)
                      .c_str()),
          help.c_str())
      .def(
          "embed",
          [](const EncoderOfTexts& self, const nb::iterable& texts, const nb::kwargs& given) {
            return EmbedAll(self, TextsOf(texts), /*one=*/false, given);
          },
          nb::arg("texts"), nb::arg("options"),
          nb::sig(fmt::format("def embed(self, texts: collections.abc.Iterable[str], {}) -> {}",
                              OptionsSignature(fields), returned)
                      .c_str()),
          help.c_str())
      .def("embed_pictures", &EmbedPictures, nb::arg("pictures"), nb::arg("options"),
           nb::sig(fmt::format("def embed_pictures(self, pictures: {}, {}) -> {}", kPicturesType,
                               OptionsSignature(fields), returned)
                       .c_str()),
           OptionsHelp("The vectors [pictures, width] of pictures, with a model that reads "
                       "pictures: paths of PNG or JPEG files, or their bytes.",
                       fields)
               .c_str())
      .def_prop_ro(
          "reads_pictures", [](const EncoderOfTexts& self) { return self.task.reads_pictures(); },
          nb::sig("def reads_pictures(self, /) -> bool"),
          "Whether the model reads pictures in place of text.");
}

}  // namespace

void BindTextEncoder(nb::module_& module) {
  nb::class_<EncoderOfTexts> encoder(
      module, "Encoder",
      "Fills in hidden tokens of texts, and gives texts vectors, with a model of an encoder "
      "alone.\n"
      "The same text gives the same numbers, bit for bit, whatever else runs and however many\n"
      "threads do.");
  BindMaking(encoder, "Encoder");
  encoder.def_prop_ro(
      "width", [](const EncoderOfTexts& self) { return self.task.width(); },
      "The length of a text's vector.");
  BindFill(encoder);
  BindEmbed(encoder);
  BindAttention(encoder);
}

}  // namespace attend
