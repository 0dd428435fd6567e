// attend.Transcriber.
#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cstddef>
#include <utility>

#include "attend/error.h"
#include "attend/translator.h"
#include "python/module/arrays.h"
#include "python/module/attention.h"
#include "python/module/bindings.h"
#include "python/module/interpreter.h"
#include "python/module/making.h"
#include "python/module/model_runner.h"
#include "python/module/options.h"
#include "python/module/paths.h"
#include "python/module/texts.h"
#include "python/module/windows.h"
#include "tasks/transcription/attended_recording.h"
#include "tasks/transcription/transcription_options.h"

namespace attend {
namespace nb = nanobind;
namespace {

using SampleArray = nb::ndarray<nb::ro, nb::device::cpu>;

template <class Number>
std::vector<float> AsFloats(const SampleArray& samples) {
  const auto* data = static_cast<const Number*>(samples.data());
  std::vector<float> floats(samples.shape(0));
  for (size_t i = 0; i < floats.size(); ++i)
    floats[i] = static_cast<float>(data[static_cast<int64_t>(i) * samples.stride(0)]);
  return floats;
}

// Whole numbers are refused: they would be read as far too loud.
std::vector<float> SamplesOf(const nb::object& given) {
  constexpr const char* kExpected = "expected an array of floats between -1 and 1, of one channel";
  SampleArray samples;
  if (!nb::try_cast(given, samples)) {
    const std::string type = nb::cast<std::string>(nb::type_name(given.type()));
    throw nb::type_error(fmt::format("samples are of type {}, {}", type, kExpected).c_str());
  }
  if (samples.ndim() != 1) {
    throw nb::type_error(fmt::format("samples have {} dimensions, {}; average the channels",
                                     samples.ndim(), kExpected)
                             .c_str());
  }
  if (samples.dtype() == nb::dtype<float>()) return AsFloats<float>(samples);
  if (samples.dtype() == nb::dtype<double>()) return AsFloats<double>(samples);
  throw nb::type_error(
      fmt::format("samples are no floats, {}; divide those of 16 bits by 32768", kExpected)
          .c_str());
}

nb::object SegmentOf(const TranscriptSegment& segment) {
  const nb::object make_word = PythonClass(kResultsModule, "TimedWord");
  nb::list words;
  for (const TimedWord& word : segment.words)
    words.append(Make(make_word, StrOf(word.text), word.begin, word.end));
  return Make(PythonClass(kResultsModule, "TranscriptSegment"), segment.begin, segment.end,
              StrOf(segment.hypotheses[0].text), nb::tuple(words));
}

nb::tuple SegmentsOf(const Transcription& found) {
  nb::list segments;
  for (const TranscriptSegment& each : found.segments) segments.append(SegmentOf(each));
  return nb::tuple(segments);
}

nb::object ResultOf(const Transcription& found) {
  const nb::object make = PythonClass(kResultsModule, "Hypothesis");
  nb::list hypotheses;
  for (const Hypothesis& each : found.hypotheses) {
    hypotheses.append(Make(make, StrOf(each.text), each.score, each.log_probability, each.ids,
                           each.finished, nb::list()));
  }
  return Make(PythonClass(kResultsModule, "Transcription"), nb::tuple(hypotheses), found.seconds,
              found.error.empty() ? nb::object(nb::none()) : nb::object(StrOf(found.error)),
              SegmentsOf(found));
}

TranscriptionOptions OptionsOf(const nb::kwargs& given, const char* where) {
  TranscriptionOptions options;
  SetOptions(Fields(options), given, where);
  return options;
}

nb::list TranscribeFiles(const Runner<Transcriber>& self, const nb::object& paths,
                         const nb::kwargs& given) {
  TranscriptionOptions options = OptionsOf(given, "transcribe");
  const std::vector<std::string> names = PathsOf(paths);
  nb::list results;
  InWindows(names, [&](std::span<const std::string> window, Windows* windows) {
    std::vector<Transcription> found;
    windows->Run([&](const std::atomic<bool>* stop) {
      options.stop = stop;
      found = self.task.TranscribeFiles(window, options);
    });
    for (const Transcription& each : found) results.append(ResultOf(each));
  });
  return results;
}

nb::object TranscribeSamples(const Runner<Transcriber>& self, const nb::object& given_samples,
                             int64_t rate, const nb::kwargs& given) {
  TranscriptionOptions options = OptionsOf(given, "transcribe_samples");
  const std::vector<float> samples = SamplesOf(given_samples);
  const RecordingSamples recording{samples, rate};
  std::vector<Transcription> found;
  Windows().Run([&](const std::atomic<bool>* stop) {
    options.stop = stop;
    found = self.task.Transcribe({&recording, 1}, options);
  });
  return ResultOf(found[0]);
}

// NumPy's [recordings, width].
nb::object EmbedFiles(const Runner<Transcriber>& self, const nb::object& paths, bool normalize) {
  const std::vector<std::string> names = PathsOf(paths);
  std::vector<float> values;
  InWindows(names, [&](std::span<const std::string> window, Windows* windows) {
    windows->Run([&](const std::atomic<bool>* stop) {
      for (const auto& [values_D, error] : self.task.EmbedFiles(window, {normalize, stop})) {
        if (!error.empty()) throw Error(ErrorKind::kInput, error);
        values.insert(values.end(), values_D.begin(), values_D.end());
      }
    });
  });
  const size_t shape[] = {names.size(), static_cast<size_t>(self.task.width())};
  return ArrayOf(std::move(values), shape);
}

nb::list AttentionOfRecording(const Runner<Transcriber>& self, const nb::object& given) {
  const std::string path = PathOf(given);
  AttendedRecording attended;
  Windows().Run([&](const std::atomic<bool>*) {
    attended = AttendRecording(self.task, *self.loaded, path, {});
  });
  const nb::object make = PythonClass(kResultsModule, "RecordingAttention");
  nb::list segments;
  for (size_t i = 0; i < attended.attention.size(); ++i) {
    SegmentAttention& attention = attended.attention[i];
    const std::vector<TimedWord>& words = attended.found.segments[i].words;
    const std::vector<size_t> map = {words.size(), static_cast<size_t>(attention.columns)};
    segments.append(Make(make, SegmentOf(attended.found.segments[i]),
                         ArrayOf(std::move(attention.mean_WC), map),
                         ArrayOf(attention.heads_WC, map)));
  }
  return segments;
}

void BindTranscribing(nb::class_<Runner<Transcriber>>& transcriber) {
  TranscriptionOptions options;
  const FieldList fields = Fields(options);
  const std::string signature = OptionsSignature(fields);
  transcriber
      .def(
          "transcribe", &TranscribeFiles, nb::arg("paths"), nb::arg("options"),
          nb::sig(fmt::format("def transcribe(self, paths: "
                              "collections.abc.Iterable[str | os.PathLike[str]], {}) -> "
                              "list[attend._results.Transcription]",
                              signature)
                      .c_str()),
          OptionsHelp("What is said in files: WAV, FLAC and others, of any rate. One that can't be "
                      "read has an error.",
                      fields)
              .c_str())
      .def(
          "transcribe_samples", &TranscribeSamples, nb::arg("samples"), nb::arg("rate"),
          nb::arg("options"),
          nb::sig(fmt::format(
                      "def transcribe_samples(self, samples: numpy.typing.NDArray[numpy.floating], "
                      "rate: int, {}) "
                      "-> attend._results.Transcription",
                      signature)
                      .c_str()),
          OptionsHelp("What is said in one recording: an array of float samples between -1 and 1, "
                      "of one channel, `rate` of them a second.",
                      fields)
              .c_str());
}

}  // namespace

void BindTranscriber(nb::module_& module) {
  nb::class_<Runner<Transcriber>> transcriber(module, "Transcriber",
                                              "Writes down what is said in recordings. The same "
                                              "recording gets the same text, bit for bit,\n"
                                              "whatever else runs and however many threads do.");
  BindMaking(transcriber, "Transcriber");
  BindTranscribing(transcriber);
  transcriber
      .def("embed", &EmbedFiles, nb::arg("paths"), nb::kw_only(), nb::arg("normalize") = false,
           nb::sig("def embed(self, paths: collections.abc.Iterable[str | os.PathLike[str]], *, "
                   "normalize: bool = False) -> numpy.typing.NDArray[numpy.float32]"),
           "The vectors [recordings, width] of files: the mean of the encoder's rows, of all "
           "segments of a\nlong recording. `normalize`: to length 1. Raises InputError naming the "
           "first that can't be\nread, or that is silent.")
      .def("attention", &AttentionOfRecording, nb::arg("path"),
           nb::sig("def attention(self, path: str | os.PathLike[str]) -> "
                   "list[attend._results.RecordingAttention]"),
           "What the words of a file's transcript look at in its sound, segment by segment. Raises "
           "InputError for\na file that can't be read, or that is silent.")
      .def_prop_ro(
          "width", [](const Runner<Transcriber>& self) { return self.task.width(); },
          nb::sig("def width(self, /) -> int"), "The length of a recording's vector.")
      .def_prop_ro(
          "rate", [](const Runner<Transcriber>& self) { return self.task.rate(); },
          nb::sig("def rate(self, /) -> int"), "Samples a second that the model reads.");
}

}  // namespace attend
