#include "train/tasks/transcription/transcription_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attend/error.h"
#include "attend/metrics.h"
#include "base/files.h"
#include "base/sha256.h"
#include "media/picture_codec.h"
#include "media/sound_frames.h"
#include "media/spectrogram.h"
#include "metrics/error_rate.h"
#include "metrics/exact_match.h"
#include "model/config_file.h"
#include "train/loop/training_speed.h"
#include "train/tasks/packed_batch.h"
#include "train/tasks/run_model.h"
#include "train/tasks/text_files.h"
#include "train/tasks/transcription/transcription.h"
#include "train/tasks/transcription/transcription_export.h"
#include "train/tasks/transcription/transcription_train_options.h"
#include "train/tasks/validation.h"

namespace attend {
namespace {

std::vector<std::string> TextsOf(const RecordingCorpus& recordings) {
  std::vector<std::string> texts;
  for (int64_t i = 0; i < recordings.size(); ++i) texts.push_back(recordings.item(i).text);
  return texts;
}

double Rate(ErrorUnit unit, const std::vector<std::string>& found,
            const std::vector<std::string>& expected) {
  return CorpusScore(ErrorRate(unit), found, {expected});
}

}  // namespace

TranscriptionTask::TranscriptionTask(const TaskSetup& setup, Recordings recordings)
    : ModelTask(setup), recordings_(std::move(recordings)) {}

const TaskInfo& TranscriptionTask::info() const { return TrainableTranscription().info; }

int64_t TranscriptionTask::CountTargets(const Examples& examples) const {
  int64_t targets = 0;
  for (const Example example : examples) targets += example.Length(kTranscriptColumn) - 1;
  return targets;
}

double TranscriptionTask::Work(const Example& example) const {
  return ProductOperations(config(), example.Length(kRowColumn),
                           example.Length(kTranscriptColumn) - 1);
}

nn::DropoutKey TranscriptionTask::KeyOf(const Shard& shard, uint64_t seed) const {
  // A target's last id is no input.
  return {seed, shard.tokens_before[kRowColumn],
          shard.tokens_before[kTranscriptColumn] - shard.examples_before};
}

nn::LossSums TranscriptionTask::LossOf(const Examples& examples,
                                       const std::optional<nn::DropoutKey>& dropout) {
  nn::PackedIds source = PackFrames(examples, kFrameColumn, kRowColumn);
  nn::PackedIds target = PackIds(examples, kTranscriptColumn, 0, 1);
  torch::Tensor next_R = PackIds(examples, kTranscriptColumn, 1, 0).ids_R;
  if (!device_.is_cpu()) {
    torch::Tensor* const parts[] = {&source.frames_FM, &source.positions_R, &target.ids_R,
                                    &target.positions_R, &next_R};
    std::vector<torch::Tensor> here;
    for (const torch::Tensor* part : parts) here.push_back(*part);
    const std::vector<torch::Tensor> there = uploader_.Upload(here);
    for (size_t i = 0; i < there.size(); ++i) *parts[i] = there[i];
  }
  torch::Tensor memory_RD;
  const torch::Tensor hidden_RD =
      transformer_->PackedHidden(source, target, dropout, /*kept=*/nullptr, &memory_RD);
  nn::LossSums sums = loss_->FromHidden(hidden_RD, transformer_->OutputWeight(),
                                        transformer_->OutputBias(), next_R);
  const double weight = TranscriptionOf(options_).ctc_weight;
  if (weight > 0 && transformer_->is_training())
    sums.loss = sums.loss + weight * EncoderLoss(memory_RD, source, examples);
  return sums;
}

// The output projection reads the encoder's rows, too. Padding, which no text has, is CTC's blank,
// so the model has no weights for this loss alone.
torch::Tensor TranscriptionTask::EncoderLoss(const torch::Tensor& memory_RD,
                                             const nn::PackedIds& source,
                                             const Examples& examples) {
  const auto begin = std::ssize(config().TargetFrame().begin);
  const nn::PackedIds labels = PackIds(examples, kTranscriptColumn, begin, /*drop=*/1);  // eos
  return nn::CtcLoss(transformer_->Logits(memory_RD), source.offsets_B1,
                     labels.ids_R.to(memory_RD.device()), labels.offsets_B1,
                     config().special_ids.pad);
}

double TranscriptionTask::ValidationLoss() {
  const RecordingCorpus& valid = *recordings_.valid;
  std::vector<nn::LossSums> all;
  for (int64_t first = 0; first < valid.size(); first += valid.window_size()) {
    const ExampleTable table =
        valid.Table(first, std::min(valid.size(), first + valid.window_size()));
    const auto sums = MeasureBatches<nn::LossSums>(
        table, options_.optimization, device_, threads_, [&](std::span<const int64_t> rows) {
          return LossOf(Examples(&table, rows), std::nullopt);
        });
    all.insert(all.end(), sums.begin(), sums.end());
  }
  return MeanLoss(all);
}

std::vector<std::string> TranscriptionTask::Transcribe(const std::shared_ptr<const Model>& model,
                                                       const RecordingCorpus& recordings) const {
  constexpr int64_t kTogether = 256;
  const Transcriber transcriber(model, {.threads = threads_});
  std::vector<std::string> texts;
  while (std::ssize(texts) < recordings.size()) {
    std::vector<std::string> paths;
    const int64_t first = std::ssize(texts);
    for (int64_t i = first; i < std::min(recordings.size(), first + kTogether); ++i)
      paths.push_back(recordings.item(i).path.string());
    for (const Transcription& each :
         transcriber.TranscribeFiles(paths, TranscriptionOf(options_).search)) {
      if (!each.error.empty()) throw Error(ErrorKind::kInput, each.error);
      texts.push_back(each.hypotheses[0].text);
    }
  }
  return texts;
}

ValidationResult TranscriptionTask::Validate() {
  constexpr int64_t kMostColumns = 320;
  const RecordingCorpus& valid = *recordings_.valid;
  auto model = std::make_shared<Model>(CopyModel(*transformer_));
  model->source_vocabulary = model->target_vocabulary = recordings_.vocabulary->bytes();
  const double loss = ValidationLoss();
  const std::vector<std::string> found = Transcribe(model, valid), expected = TextsOf(valid);
  ValidationResult result;
  result.metrics = {{"loss", loss},
                    {"wer", Rate(ErrorUnit::kWords, found, expected)},
                    {"cer", Rate(ErrorUnit::kCharacters, found, expected)}};
  const SoundFrames frames(*config().frames);
  for (const int64_t i : ShownOf(valid.size())) {
    const std::string name = ShortName(valid.item(i).path);
    const Picture picture =
        DrawSpectrogram(frames.Of(valid.Samples(i), name), frames.input().mels, kMostColumns);
    result.samples.push_back({name, expected[i], found[i], PngDataUrl(picture)});
  }
  return result;
}

Json TranscriptionTask::Digests() const {
  Json digests = Json::object();
  digests["train_recordings"] = recordings_.train->sha256();
  if (recordings_.valid != nullptr) digests["valid_recordings"] = recordings_.valid->sha256();
  digests["vocabulary"] = Sha256(recordings_.vocabulary->bytes());
  return digests;
}

Json TranscriptionTask::ForExport() const {
  const bool validates = recordings_.valid != nullptr;
  return {{"sample_sounds", SampleSounds(validates ? *recordings_.valid : *recordings_.train)},
          {"longest_seconds", recordings_.train->LongestSeconds()}};
}

void TranscriptionTask::SaveFiles(const std::filesystem::path& directory) const {
  WriteFileAtomically(directory / kJointVocabularyFile, recordings_.vocabulary->bytes());
}

void TranscriptionTask::Describe(const Log& log) const {
  log(LogLevel::kInfo, fmt::format("training recordings: {}", recordings_.train->Summary()));
  if (recordings_.valid != nullptr)
    log(LogLevel::kInfo, fmt::format("validation recordings: {}", recordings_.valid->Summary()));
}

Json TranscriptionTask::CheckData(const Log& log) const {
  constexpr double kMany = 0.01;
  Json counts = Json::object();
  const auto check = [&](const char* name, const RecordingCorpus* recordings) {
    if (recordings == nullptr) return;
    const int64_t tokens = recordings->tokens(), unknown = recordings->unknown_tokens();
    counts[name] = {{"unknown_tokens", unknown}, {"tokens", tokens}};
    const double share =
        static_cast<double>(unknown) / static_cast<double>(std::max<int64_t>(tokens, 1));
    if (share < kMany) return;
    log(LogLevel::kWarning,
        fmt::format("{:.1f} % of the tokens of the {} texts are unknown to the vocabulary",
                    100 * share, name));
  };
  check("training", recordings_.train.get());
  check("validation", recordings_.valid.get());
  check("test", recordings_.test.get());
  return counts;
}

Json TranscriptionTask::Plan(const CorpusReport& /*read*/) const {
  Json plan = Json::object();
  plan["train"] = recordings_.train->Summary();
  if (recordings_.valid != nullptr) plan["valid"] = recordings_.valid->Summary();
  if (recordings_.test != nullptr) plan["test"] = recordings_.test->Summary();
  plan["vocabulary"] = recordings_.vocabulary->size();
  return plan;
}

// Keeps what the model writes, one line for each recording, and what it is compared with.
Json TranscriptionTask::Test(const TestSetting& setting) {
  if (recordings_.test == nullptr) return {};
  setting.tell("transcribing the test recordings: " + recordings_.test->Summary());
  const std::vector<std::string> found = Transcribe(setting.model, *recordings_.test),
                                 expected = TextsOf(*recordings_.test);
  std::string lines, references;
  for (size_t i = 0; i < found.size(); ++i) {
    lines += found[i] + "\n";
    references += expected[i] + "\n";
  }
  WriteFileAtomically(setting.output / "test_output.txt", lines);
  WriteFileAtomically(setting.output / "test_reference.txt", references);
  return {{"wer", Rate(ErrorUnit::kWords, found, expected)},
          {"cer", Rate(ErrorUnit::kCharacters, found, expected)},
          {"exact_match", CorpusScore(ExactMatch(), found, {expected})},
          {"recordings", found.size()}};
}

}  // namespace attend
