#include "train/tasks/classification/picture_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attend/classifier.h"
#include "base/files.h"
#include "media/patch_numbers.h"
#include "metrics/classes.h"
#include "model/sample.h"
#include "tasks/samples.h"
#include "train/loop/parameters.h"
#include "train/loop/training_speed.h"
#include "train/tasks/class_validation.h"
#include "train/tasks/classification/classification.h"
#include "train/tasks/label_export.h"
#include "train/tasks/packed_batch.h"
#include "train/tasks/run_model.h"
#include "train/tasks/text_files.h"

namespace attend {
namespace {

// Shares of the labels [B, L].
torch::Tensor SharesOf(const Examples& examples, int64_t labels) {
  torch::Tensor shares_BL = torch::zeros({examples.size(), labels});
  float* row = shares_BL.mutable_data_ptr<float>();
  for (const Example example : examples) {
    const std::span<const int32_t> found = example.Ids(kPictureLabelColumn);
    const std::span<const float> weights = example.Numbers(kLabelWeightColumn);
    for (size_t i = 0; i < found.size(); ++i) row[found[i]] += weights[i];
    row += labels;
  }
  return shares_BL;
}

std::vector<std::string> LabelsOf(const PictureCorpus& pictures) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < pictures.size(); ++i)
    names.push_back(pictures.pictures().label_names()[pictures.label(i)]);
  return names;
}

}  // namespace

PictureTask::PictureTask(const TaskSetup& setup, PictureCorpora pictures)
    : ModelTask(setup), pictures_(std::move(pictures)) {}

const TaskInfo& PictureTask::info() const { return TrainableClassification().info; }

double PictureTask::Work(const Example& /*example*/) const {
  return ProductOperations(config(), config().patches->rows(), 1);
}

nn::DropoutKey PictureTask::KeyOf(const Shard& shard, uint64_t seed) const {
  const int64_t rows = shard.examples_before * config().patches->rows();
  return {seed, rows, rows};
}

torch::Tensor PictureTask::LogitsOf(const Examples& examples,
                                    const std::optional<nn::DropoutKey>& dropout) {
  nn::PackedIds read = PackPatches(examples, kPatchColumn, *config().patches);
  torch::Tensor hidden_RD;
  if (device_.is_cpu()) {
    hidden_RD = transformer_->PackedEncode(read, dropout);
  } else {
    hidden_RD = transformer_->EncodePictures(uploader_.Upload({read.patches_PE})[0]).flatten(0, 1);
  }
  // On a GPU products in bf16 have such results.
  return transformer_->Logits(transformer_->Pool(hidden_RD, read)).to(torch::kFloat32);
}

nn::LossSums PictureTask::LossOf(const Examples& examples,
                                 const std::optional<nn::DropoutKey>& dropout) {
  const torch::Tensor shares_BL = SharesOf(examples, Choices()).to(device_);
  return loss_->FromMixtures(LogitsOf(examples, dropout), shares_BL);
}

ValidationResult PictureTask::Validate() {
  const PictureCorpus& valid = *pictures_.valid;
  const PredictedClasses found =
      PredictClasses(valid, options_, device_, threads_, [&](const Examples& examples) {
        const torch::Tensor logits_BL = LogitsOf(examples, std::nullopt);
        const torch::Tensor shares_BL = SharesOf(examples, Choices()).to(device_);
        return ScoredExamples{logits_BL, loss_->FromMixtures(logits_BL, shares_BL)};
      });
  const std::vector<std::string> expected = LabelsOf(valid);
  ValidationResult result;
  result.metrics = ClassMetrics(found, expected);
  for (const int64_t i : ShownOf(valid.size()))
    result.samples.push_back({ShortName(valid.Where({0, valid.survey().kept[i]})), expected[i],
                              found.names[i], ReportPicture(valid.Get(i))});
  return result;
}

Json PictureTask::Digests() const {
  Json digests = Json::object();
  digests["train_pictures"] = pictures_.train->survey().sha256;
  if (pictures_.valid != nullptr) digests["valid_pictures"] = pictures_.valid->survey().sha256;
  return digests;
}

// Pictures that the exported model is to prove itself on, as samples without what it says of them.
Json PictureTask::ForExport() const {
  const PictureCorpus& from = pictures_.valid != nullptr ? *pictures_.valid : *pictures_.train;
  const int64_t room = kMostSampleDigits / (2 * config().patches->bytes());
  std::vector<Sample> samples;
  for (int64_t i = 0; i < std::min({room, kExportedSamples, from.size()}); ++i) {
    Sample& sample = samples.emplace_back();
    sample.source = ShortName(from.Where({0, from.survey().kept[i]}));
    sample.pixels = from.Get(i).pixels;
  }
  return {{"sample_pictures", SamplesToJson(samples)}};
}

void PictureTask::Describe(const Log& log) const {
  log(LogLevel::kInfo, fmt::format("training pictures: {}", pictures_.train->Summary()));
  if (pictures_.valid != nullptr)
    log(LogLevel::kInfo, fmt::format("validation pictures: {}", pictures_.valid->Summary()));
  log(LogLevel::kInfo, fmt::format("{} labels", Choices()));
}

Json PictureTask::CheckData(const Log& /*log*/) const { return Json::object(); }

Json PictureTask::Plan(const CorpusReport& /*read*/) const {
  return ClassPlan(pictures_, config().labels);
}

// Keeps a line for each picture: its label, the model's, and its name.
Json PictureTask::Test(const TestSetting& setting) {
  if (pictures_.test == nullptr) return {};
  const PictureCorpus& test = *pictures_.test;
  setting.tell(fmt::format("classifying the test pictures: {}", test.Summary()));
  const Classifier classifier(setting.model, {.threads = threads_});
  const std::vector<std::string> expected = LabelsOf(test);
  std::vector<std::string> found;
  std::string lines;
  while (std::ssize(found) < test.size()) {
    const int64_t first = std::ssize(found);
    std::vector<std::vector<uint8_t>> pixels;
    for (int64_t i = first; i < std::min(test.size(), first + test.window_size()); ++i)
      pixels.push_back(test.Get(i).pixels);
    for (const Classification& each : classifier.ClassifyPixels(pixels)) {
      const int64_t i = std::ssize(found);
      found.push_back(each.classes[0].label);
      lines += fmt::format("{}\t{}\t{}\n", expected[i], found[i],
                           ShortName(test.Where({0, test.survey().kept[i]})));
    }
  }
  WriteFileAtomically(setting.output / "test_output.txt", lines);
  const ClassScores scores = ScoreClasses(found, expected);
  return {{"accuracy", scores.accuracy()},
          {"macro_f1", scores.macro_f1()},
          {"items", scores.items()},
          {"labels", scores.classes},
          {"confusion", scores.confusion}};
}

void CompletePictureModel(const ExportedRun& run, Model* model) {
  nn::Transformer transformer(model->config);
  ReadParameters(model->tensors, transformer.ptr().get());
  transformer->eval();
  const PatchInput& input = *model->config.patches;
  const PatchNumbers numbers(input);
  std::vector<Sample> samples;
  for (const Sample& picture :
       SamplesFromJson(MemberOf<Json>(run.identity.task, "sample_pictures", run.where),
                       model->config, run.where)) {
    Sample& sample = samples.emplace_back(
        LabelSample(transformer, PackPatches(numbers.Of(picture.pixels), input)));
    sample.source = picture.source;
    sample.pixels = picture.pixels;
  }
  model->samples = SamplesToJson(samples);
}

}  // namespace attend
