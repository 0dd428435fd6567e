// attend._attend.write_model: what attend.convert made of another toolkit's files, as a model
// directory.
#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "attend/error.h"
#include "attend/vocabulary.h"
#include "base/random.h"
#include "media/made_digits.h"
#include "media/sound_frames.h"
#include "model/config_file.h"
#include "model/model_directory.h"
#include "model/sample.h"
#include "python/module/bindings.h"
#include "tasks/samples.h"

namespace attend {
namespace nb = nanobind;
namespace {

using Array = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;

TensorTable TableOf(const nb::dict& tensors, std::vector<Array>* kept) {
  TensorTable table;
  for (const auto& [name, value] : tensors) {
    Array& array = kept->emplace_back(nb::cast<Array>(value));
    TensorView view{nb::cast<std::string>(name), TensorType::kF32, {}, nullptr};
    for (size_t axis = 0; axis < array.ndim(); ++axis)
      view.shape.push_back(static_cast<int64_t>(array.shape(axis)));
    view.data = reinterpret_cast<const std::byte*>(array.data());
    table.Add(std::move(view));
  }
  return table;
}

// Pictures of random pixels that have these names.
std::vector<Sample> RandomPictures(const PatchInput& input, const std::vector<std::string>& names) {
  constexpr int64_t kMostBytes = int64_t{1} << 20;  // samples.json has two digits for each
  std::vector<Sample> samples;
  int64_t bytes = 0;
  for (const std::string& name : names) {
    if ((bytes += input.bytes()) > kMostBytes) break;
    Random random({samples.size()});
    Sample& sample = samples.emplace_back();
    sample.source = name;
    for (int64_t i = 0; i < input.bytes(); ++i)
      sample.pixels.push_back(static_cast<uint8_t>(random.Below(256)));
  }
  return samples;
}

// Recordings of made digits that have these names, in 16 bits.
std::vector<Sample> MadeRecordings(const FrameInput& input, const std::vector<std::string>& names) {
  constexpr double kSeconds = 2;
  std::vector<Sample> samples;
  for (const std::string& name : names) {
    Random random({samples.size()});
    const std::vector<int64_t> digits = {static_cast<int64_t>(random.Below(10)),
                                         static_cast<int64_t>(random.Below(10))};
    Sample& sample = samples.emplace_back();
    sample.source = name;
    sample.sound = SixteenBits(SoundDigits(digits, input.rate, &random).samples);
    const auto most = static_cast<size_t>(kSeconds * static_cast<double>(input.rate));
    if (sample.sound.size() > most) sample.sound.resize(most);
  }
  return samples;
}

// What the model proves itself by: outputs for these texts, as the reference kernels give them.
std::vector<Sample> SamplesOf(const std::shared_ptr<const Model>& model,
                              const std::vector<std::string>& texts) {
  if (model->config.patches)
    return RemakeSamples(model, RandomPictures(*model->config.patches, texts));
  if (model->config.frames)
    return RemakeSamples(model, MadeRecordings(*model->config.frames, texts));
  const auto vocabulary = Vocabulary::FromBytes(model->source_vocabulary, "source vocabulary");
  std::vector<Sample> samples;
  for (const std::string& text : texts)
    samples.push_back(SampleOf(model->config, *vocabulary, text));
  return RemakeSamples(model, std::move(samples));
}

struct Parts {
  std::string config, provenance;  // JSON
  std::string source_vocabulary, target_vocabulary;
};

void WriteModel(const Parts& parts, const nb::dict& tensors, const std::vector<std::string>& texts,
                const std::filesystem::path& output) {
  std::vector<Array> kept;
  auto model = std::make_shared<Model>();
  model->tensors = TableOf(tensors, &kept);
  const WithoutGil released;
  model->config =
      ModelConfigFromJson(ParseJson(parts.config, "the configuration"), "the configuration");
  model->provenance = ParseJson(parts.provenance, "the provenance");
  model->source_vocabulary = parts.source_vocabulary;
  model->target_vocabulary = parts.target_vocabulary;
  CheckTensors(model->tensors, model->config, "the tensors");
  if (!texts.empty() && model->config.head != HeadKind::kNone)
    model->samples = SamplesToJson(SamplesOf(model, texts));
  SaveModel(*model, output);
}

}  // namespace

void BindWriting(nb::module_& module) {
  module.def(
      "write_model",
      [](const std::string& config, const nb::dict& tensors, const nb::bytes& source_vocabulary,
         const nb::bytes& target_vocabulary, const std::string& provenance,
         const std::vector<std::string>& texts, const std::filesystem::path& output) {
        const auto bytes = [](const nb::bytes& from) {
          return std::string(from.c_str(), from.size());
        };
        WriteModel({config, provenance, bytes(source_vocabulary), bytes(target_vocabulary)},
                   tensors, texts, output);
      },
      nb::arg("config"), nb::arg("tensors"), nb::arg("source_vocabulary"),
      nb::arg("target_vocabulary"), nb::arg("provenance"), nb::arg("texts"), nb::arg("output"),
      nb::sig("def write_model(config: str, tensors: dict[str, numpy.ndarray], "
              "source_vocabulary: bytes, target_vocabulary: bytes, provenance: str, "
              "texts: list[str], output: str | os.PathLike[str]) -> None"),
      "Writes a model directory, with samples of what the model makes of `texts`, or of random\n"
      "pictures or made recordings of these names where it reads those. `config` is\n"
      "`model` of its config.json; tensors are f32.");
}

}  // namespace attend
