#include <gmock/gmock.h>

#include "attend/error.h"
#include "attend/translator.h"
#include "base/files.h"
#include "base/random.h"
#include "kernels/inference/dispatch.h"
#include "media/made_digits.h"
#include "media/sound.h"
#include "model/sample.h"
#include "tasks/label_model_fixture.h"
#include "tasks/samples.h"

namespace attend {
namespace {

std::shared_ptr<Model> MakeSpeechModel(double padded_seconds = 0) {
  const auto vocabulary = MakeLabelModel("classification", Pooling::kMean, {"a", "b"});
  auto model = std::make_shared<Model>();
  ModelConfig& config = model->config = PresetConfig("speech-tiny");
  config.task = "transcription";
  config.target_vocab_size = vocabulary->config.source_vocab_size;
  config.special_ids = vocabulary->config.special_ids;
  config.frames->mels = 20;
  config.frames->rate = 8000;
  config.frames->fft = 200;
  config.frames->hop = 80;
  config.frames->padded_seconds = padded_seconds;
  config.encoder->layers = config.decoder->layers = 2;
  CheckModelConfig(config);
  model->tensors = RandomTensors(config, 7, 0.1);
  model->source_vocabulary = model->target_vocabulary = vocabulary->source_vocabulary;
  return model;
}

Sound Digits(uint64_t seed, int64_t count, int64_t rate = 8000) {
  Random random({seed});
  std::vector<int64_t> digits;
  for (int64_t i = 0; i < count; ++i) digits.push_back(static_cast<int64_t>(random.Below(10)));
  return SoundDigits(digits, rate, &random);
}

class TranscriberTest : public testing::TestWithParam<std::string> {};

TEST_P(TranscriberTest, GivesTheSameBitsWhateverSharesTheCall) {
  const auto model = MakeSpeechModel();
  std::vector<Sound> sounds;
  for (int64_t i = 0; i < 9; ++i) sounds.push_back(Digits(i, 1 + i % 4));
  std::vector<RecordingSamples> recordings;
  for (const Sound& sound : sounds) recordings.push_back({sound.samples, sound.rate});
  for (const WeightType type : {WeightType::kF32, WeightType::kInt8}) {
    const Transcriber one(model, {.threads = 1, .type = type, .instruction_set = "reference"});
    const Transcriber all(model, {.threads = 3, .type = type, .instruction_set = GetParam()});
    const auto found = all.Transcribe(recordings, {.max_length = 12});
    ASSERT_EQ(found.size(), recordings.size());
    for (size_t i = 0; i < recordings.size(); i += 4) {
      const Transcription alone = one.Transcribe({&recordings[i], 1}, {.max_length = 12})[0];
      EXPECT_EQ(found[i].hypotheses[0].ids, alone.hypotheses[0].ids);
      EXPECT_EQ(found[i].hypotheses[0].score, alone.hypotheses[0].score);
      EXPECT_DOUBLE_EQ(found[i].seconds, sounds[i].seconds());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, TranscriberTest, testing::ValuesIn(AvailableInstructionSets()));

class RecordingFilesTest : public FolderTest {};

// A file is its samples; one that is damaged, or too long, is told of beside the others.
TEST_F(RecordingFilesTest, DamagedFilesAreNamedBesideTheOthers) {
  const Transcriber transcriber(MakeSpeechModel(/*padded_seconds=*/3), {.threads = 2});
  EXPECT_EQ(transcriber.rate(), 8000);
  const std::string good = folder_ / "good.wav", bad = folder_ / "bad.wav",
                    other = folder_ / "other.wav", longer = folder_ / "longer.wav";
  Sound sound = Digits(1, 2);
  for (float& sample : sound.samples) sample = std::round(sample * 32768) / 32768;
  WriteFileAtomically(good, EncodeWav(sound));
  WriteFileAtomically(bad, "RIFF no sound");
  WriteFileAtomically(other, EncodeWav(Digits(1, 2, 16000)));
  WriteFileAtomically(longer, EncodeWav(Sound{8000, std::vector<float>(8000 * 4)}));
  const std::vector<std::string> paths = {good, bad, other, longer};
  const auto found = transcriber.TranscribeFiles(paths, {.n_best = 2, .max_length = 6});
  const RecordingSamples samples{sound.samples, 8000};
  const auto alone = transcriber.Transcribe({&samples, 1}, {.n_best = 2, .max_length = 6});
  EXPECT_EQ(found[0].hypotheses.size(), 2);
  EXPECT_EQ(found[0].hypotheses[0].score, alone[0].hypotheses[0].score);
  EXPECT_THAT(found[1].error, testing::HasSubstr("bad.wav"));
  EXPECT_TRUE(found[1].hypotheses.empty());
  EXPECT_EQ(found[2].error, "");
  EXPECT_NEAR(found[2].seconds, found[0].seconds, 0.5);
  EXPECT_THAT(found[3].error, testing::HasSubstr("has 4.0 seconds, and the model reads 3"));
  const RecordingSamples too_long{std::span<const float>(), 8000};
  EXPECT_THROW(transcriber.Transcribe({&too_long, 1}), Error);
}

// What a model proves itself by holds its recording.
TEST(SpeechSamplesTest, AreRemadeAndReplayed) {
  const auto model = MakeSpeechModel();
  std::vector<Sample> samples(2);
  for (size_t i = 0; i < samples.size(); ++i) {
    for (const float sample : Digits(i, 2).samples)
      samples[i].sound.push_back(static_cast<int16_t>(std::lround(sample * 32767)));
  }
  const std::vector<Sample> made = RemakeSamples(model, samples);
  const std::vector<Sample> read =
      SamplesFromJson(ParseJson(Dump(SamplesToJson(made)), "samples"), model->config, "samples");
  const auto replayed = ReplaySamples(*Load(model, {}), read, 2);
  for (size_t i = 0; i < made.size(); ++i) {
    EXPECT_EQ(read[i].sound, samples[i].sound);
    ASSERT_EQ(replayed[i].size(), made[i].target_ids.size());
    ASSERT_GT(replayed[i].size(), 0);
    for (size_t t = 0; t < replayed[i].size(); ++t)
      EXPECT_NEAR(replayed[i][t], made[i].token_log_probabilities[t], 1e-4);
  }
  Json damaged = SamplesToJson(made);
  damaged[0]["sound"] = "abc";
  EXPECT_THROW(SamplesFromJson(damaged, model->config, "samples"), Error);
}

}  // namespace
}  // namespace attend
