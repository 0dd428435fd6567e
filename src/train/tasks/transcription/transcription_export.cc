#include "train/tasks/transcription/transcription_export.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "attend/nn/transformer.h"
#include "media/sound_frames.h"
#include "model/sample.h"
#include "tasks/translation/translation_search.h"
#include "train/tasks/packed_batch.h"
#include "train/tasks/run_model.h"
#include "train/tasks/text_export.h"
#include "train/tasks/text_files.h"

namespace attend {
namespace {

// The likeliest token that a search may write.
int32_t Choose(const torch::Tensor& logits_V, const SpecialIds& ids) {
  torch::Tensor allowed_V = logits_V.clone();
  for (const int64_t id : {ids.pad, ids.bos, ids.unk})
    if (id >= 0 && id != ids.eos) allowed_V[id] = -std::numeric_limits<double>::infinity();
  return static_cast<int32_t>(allowed_V.argmax().item<int64_t>());
}

// The LibTorch model's greedy text, with log-probabilities and the largest logits of each step.
Sample Transcribed(nn::Transformer& transformer, Sample sample) {
  const torch::NoGradGuard no_grad;
  const ModelConfig& config = transformer->config();
  const std::vector<float> frames_TM =
      SoundFrames(*config.frames).Of(OfSixteenBits(sample.sound), "a sample");
  const std::span<const float> recording(frames_TM);
  const nn::PackedIds source = PackFrames({&recording, 1}, *config.frames, torch::kCPU);
  const int64_t most = config.MaxOutput(source.longest + kExtraLength);
  nn::DecoderState state = transformer->Start(source);
  torch::Tensor hidden_RD;
  const auto read = [&](int64_t id) {
    hidden_RD = transformer->Step(torch::tensor({id}, torch::kInt64), &state);
  };
  for (const int32_t id : config.TargetFrame().begin) read(id);
  for (int64_t step = 0; step < most; ++step) {
    const torch::Tensor logits_V = transformer->Logits(hidden_RD)[0].to(torch::kFloat64);
    const int32_t next = Choose(logits_V, config.special_ids);
    AddStep(logits_V, next, &sample);
    if (next == config.special_ids.eos) break;
    read(next);
  }
  return sample;
}

}  // namespace

Json SampleSounds(const RecordingCorpus& recordings) {
  constexpr int64_t kMostSamples = 1 << 15;  // 128 KiB of digits each
  std::vector<Sample> samples;
  for (int64_t i = 0; i < std::min(kExportedSamples, recordings.size()); ++i) {
    Sample& sample = samples.emplace_back();
    sample.source = ShortName(recordings.item(i).path);
    sample.sound = SixteenBits(recordings.Samples(i));
    if (std::ssize(sample.sound) > kMostSamples) sample.sound.resize(kMostSamples);
  }
  return SamplesToJson(samples);
}

void CompleteTranscriptionModel(const ExportedRun& run, Model* model) {
  ExportedTextModel text = CompleteTextModel(run, model);
  // Runs of older versions do not say.
  model->config.frames->longest_seconds = run.identity.task.value("longest_seconds", 0.0);
  std::vector<Sample> samples;
  for (Sample& given :
       SamplesFromJson(MemberOf<Json>(run.identity.task, "sample_sounds", run.where), model->config,
                       run.where)) {
    samples.push_back(Transcribed(text.transformer, std::move(given)));
    samples.back().target = text.vocabulary->Decode(samples.back().target_ids);
  }
  model->samples = SamplesToJson(samples);
}

}  // namespace attend
