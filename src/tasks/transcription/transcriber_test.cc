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
#include "tasks/transcription/heard_recordings.h"
#include "tasks/transcription/segments.h"
#include "text/text_parts.h"

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

// A file is its samples; one that is damaged is told of beside the others.
TEST_F(RecordingFilesTest, DamagedFilesAreNamedBesideTheOthers) {
  const Transcriber transcriber(MakeSpeechModel(/*padded_seconds=*/3), {.threads = 2});
  EXPECT_EQ(transcriber.rate(), 8000);
  const std::string good = folder_ / "good.wav", bad = folder_ / "bad.wav",
                    other = folder_ / "other.wav", silent = folder_ / "silent.wav";
  Sound sound = Digits(1, 2);
  for (float& sample : sound.samples) sample = std::round(sample * 32768) / 32768;
  WriteFileAtomically(good, EncodeWav(sound));
  WriteFileAtomically(bad, "RIFF no sound");
  WriteFileAtomically(other, EncodeWav(Digits(1, 2, 16000)));
  WriteFileAtomically(silent, EncodeWav(Sound{8000, std::vector<float>(8000 * 4)}));
  const std::vector<std::string> paths = {good, bad, other, silent};
  const auto found = transcriber.TranscribeFiles(paths, {.n_best = 2, .max_length = 6});
  const RecordingSamples samples{sound.samples, 8000};
  const auto alone = transcriber.Transcribe({&samples, 1}, {.n_best = 2, .max_length = 6});
  EXPECT_EQ(found[0].hypotheses.size(), 2);
  EXPECT_EQ(found[0].hypotheses[0].score, alone[0].hypotheses[0].score);
  EXPECT_THAT(found[1].error, testing::HasSubstr("bad.wav"));
  EXPECT_TRUE(found[1].hypotheses.empty());
  EXPECT_EQ(found[2].error, "");
  EXPECT_NEAR(found[2].seconds, found[0].seconds, 0.5);
  EXPECT_EQ(found[3].error, "");
  EXPECT_EQ(found[3].seconds, 4);
  EXPECT_TRUE(found[3].segments.empty());
  ASSERT_EQ(found[3].hypotheses.size(), 1);
  EXPECT_EQ(found[3].hypotheses[0].text, "");
  const RecordingSamples empty{std::span<const float>(), 8000};
  EXPECT_THROW(transcriber.Transcribe({&empty, 1}), Error);
}

// Ten minutes, silence that fills up short segments included.
TEST(SegmentsInMemory, CountWithTheSilenceThatFillsThemUp) {
  for (const auto& [padded_seconds, together] : {std::pair(0.0, 300), {30.0, 20}, {1.0, 300}}) {
    FrameInput frames;
    frames.padded_seconds = padded_seconds;
    const auto seconds = [&](size_t) { return SecondsInMemory(frames, 2); };
    EXPECT_EQ(EndOfGroup(0, 1000, seconds), together);
    EXPECT_EQ(EndOfGroup(100, 1000, seconds), 100 + together);
    EXPECT_EQ(EndOfGroup(999, 1000, seconds), 1000);
  }
}

void Append(const Sound& more, Sound* sound) {
  sound->samples.insert(sound->samples.end(), more.samples.begin(), more.samples.end());
}

// Digits with a second of silence around them; `begins` are where they begin, in samples.
Sound DigitsWithPauses(int64_t parts, std::vector<int64_t>* begins) {
  Sound sound{8000, std::vector<float>(8000)};
  for (int64_t i = 0; i < parts; ++i) {
    begins->push_back(std::ssize(sound.samples));
    Append(Digits(20 + i, 3), &sound);
    sound.samples.resize(sound.samples.size() + 8000);
  }
  return sound;
}

// A long recording is what its segments are by themselves, whatever bounds them.
TEST(LongRecordingsTest, AreTheirSegments) {
  std::vector<int64_t> begins;
  const Sound sound = DigitsWithPauses(5, &begins);
  const RecordingSamples recording{sound.samples, 8000};
  const std::vector<RecordingSamples> shared(3, recording);
  auto positions = MakeSpeechModel();
  positions->config.encoder->positions = PositionKind::kLearned;
  positions->config.encoder->max_positions = 2 * 50;  // rows of 20 ms: 2 s
  positions->tensors = RandomTensors(positions->config, 7, 0.1);
  for (const auto& model : {MakeSpeechModel(), MakeSpeechModel(/*padded_seconds=*/2), positions}) {
    TranscriptionOptions options{.n_best = 2, .max_length = 6};
    if (model->config.frames->padded_seconds == 0 && model != positions) options.max_seconds = 2;
    const Transcriber transcriber(model, {.threads = 1});
    const Transcription found = transcriber.Transcribe({&recording, 1}, options)[0];
    ASSERT_EQ(found.segments.size(), begins.size());
    double score = 0;
    std::string text;
    for (size_t i = 0; i < begins.size(); ++i) {
      const TranscriptSegment& segment = found.segments[i];
      EXPECT_NEAR(segment.begin, static_cast<double>(begins[i]) / 8000, 0.15);
      const auto begin = std::llround(segment.begin * 8000), end = std::llround(segment.end * 8000);
      const RecordingSamples part{std::span(sound.samples).subspan(begin, end - begin), 8000};
      const auto alone = transcriber.Transcribe({&part, 1}, options)[0].hypotheses;
      EXPECT_EQ(segment.hypotheses[0].score, alone[0].score);
      EXPECT_EQ(segment.hypotheses[1].text, alone[1].text);
      score += alone[0].score;
      text += (i == 0 ? "" : " ") + alone[0].text;
    }
    EXPECT_EQ(found.hypotheses[0].score, score);
    EXPECT_EQ(found.hypotheses[0].text, text);
    EXPECT_EQ(found.hypotheses.size(), 2);
    for (const Transcription& each :
         Transcriber(model, {.threads = 3}).Transcribe(shared, options)) {
      EXPECT_EQ(each.hypotheses[0].ids, found.hypotheses[0].ids);
      EXPECT_EQ(each.hypotheses[1].score, found.hypotheses[1].score);
    }
  }
}

// Times of words rise within their segments, and nothing else changes them or is changed by them.
TEST(LongRecordingsTest, HaveTimesOfWords) {
  std::vector<int64_t> begins;
  const Sound sound = DigitsWithPauses(3, &begins);
  const Sound other = Digits(9, 4);
  const std::vector<RecordingSamples> recordings = {{sound.samples, 8000}, {other.samples, 8000}};
  auto positions = MakeSpeechModel();  // outputs are cut where the decoder's positions end
  positions->config.decoder->positions = PositionKind::kLearned;
  positions->config.decoder->max_positions = 6;
  positions->tensors = RandomTensors(positions->config, 7, 0.1);
  for (const auto& model : {MakeSpeechModel(), MakeSpeechModel(/*padded_seconds=*/2), positions}) {
    TranscriptionOptions options{.max_length = 12, .max_seconds = 2};
    const Transcriber transcriber(model, {.threads = 1});
    const auto without = transcriber.Transcribe(recordings, options);
    options.word_times = true;
    const auto found = transcriber.Transcribe(recordings, options);
    const auto alone =
        Transcriber(model, {.threads = 3}).Transcribe({recordings.data() + 1, 1}, options);
    EXPECT_EQ(found[1].segments[0].words, alone[0].segments[0].words);
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].hypotheses[0].score, without[i].hypotheses[0].score);
      if (model == positions) {
        EXPECT_EQ(found[i].segments[0].hypotheses[0].ids.size(), 6);
      }
      ASSERT_EQ(found[i].segments.size(), i == 0 ? 3 : 1);
      for (const TranscriptSegment& segment : found[i].segments) {
        std::string text;
        double end = segment.begin;
        for (const TimedWord& word : segment.words) {
          text += (text.empty() ? "" : " ") + word.text;
          EXPECT_GE(word.begin, end);
          EXPECT_GE(word.end, word.begin);
          end = word.end;
        }
        EXPECT_FALSE(text.empty());
        EXPECT_EQ(text, WithSingleSpaces(segment.hypotheses[0].text));
        EXPECT_LE(end, segment.end);
        EXPECT_GT(end, segment.begin);
      }
    }
  }
}

// A text that takes all positions of the decoder has times, too.
TEST(LongRecordingsTest, HaveTimesOfWordsUpToTheLastPosition) {
  auto model = MakeSpeechModel();
  model->config.decoder->positions = PositionKind::kLearned;
  model->config.decoder->max_positions = 6;
  model->tensors = RandomTensors(model->config, 7, 0.1);
  const Sound sound = Digits(9, 4);
  const RecordingSamples recording{sound.samples, 8000};
  const auto found = Transcriber(model, {.threads = 1})
                         .Transcribe({&recording, 1}, {.max_length = 50, .word_times = true})[0];
  ASSERT_EQ(found.segments.size(), 1);
  ASSERT_FALSE(found.segments[0].hypotheses[0].finished);
  EXPECT_EQ(found.segments[0].hypotheses[0].ids.size(), 6);
  ASSERT_FALSE(found.segments[0].words.empty());
  EXPECT_NEAR(found.segments[0].words.back().end, sound.seconds(), 0.05);
}

// Eleven minutes, more than is in memory together, and a short recording beside it.
TEST(LongRecordingsTest, MayBeLongerThanWhatIsSearchedTogether) {
  Sound sound{8000, {}};
  const Sound part = Digits(3, 3);
  while (sound.seconds() < 660) {
    Append(part, &sound);
    sound.samples.resize((sound.samples.size() / 240000 + 1) * 240000);
  }
  const std::vector<RecordingSamples> both = {{sound.samples, 8000}, {part.samples, 8000}};
  const auto found = Transcriber(MakeSpeechModel(), {.threads = 2})
                         .Transcribe(both, {.beam_size = 1, .max_length = 3});
  ASSERT_EQ(found[0].segments.size(), 22);
  for (const TranscriptSegment& segment : found[0].segments)
    EXPECT_LT(segment.end - segment.begin, 3);
  EXPECT_EQ(found[1].segments.size(), 1);
  EXPECT_EQ(found[1].segments[0].end, part.seconds());
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
