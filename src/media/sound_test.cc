#include "media/sound.h"

#include <gmock/gmock.h>
#include <sndfile.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <set>

#include "attend/error.h"
#include "base/files.h"
#include "media/log_mel.h"
#include "media/made_digits.h"
#include "media/mel_filters.h"
#include "media/silence.h"
#include "media/sound_frames.h"
#include "media/spectrogram.h"
#include "media/test_sounds.h"

namespace attend {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string SoundRefusal(const std::string& bytes, const SoundLimits& limits = {}) {
  try {
    DecodeSound(bytes, "song.wav", limits);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_THAT(error.what(), HasSubstr("'song.wav'"));
    return error.what();
  }
  return "";
}

void Append(const Sound& part, Sound* sound) {
  sound->samples.insert(sound->samples.end(), part.samples.begin(), part.samples.end());
}

Sound Silence(int64_t rate, double seconds) { return Tone(0, rate, seconds); }

// A WAV file of a header's claims and some bytes of sound.
std::string WavOf(uint32_t rate, uint16_t channels, uint16_t format, uint16_t bits,
                  uint32_t claimed, const std::string& data) {
  std::string wav = "RIFF";
  const auto append = [&](uint64_t number, int bytes) {
    for (; bytes > 0; --bytes, number >>= 8) wav += static_cast<char>(number);
  };
  append(36 + claimed, 4);
  wav += "WAVEfmt ";
  append(16, 4);
  append(format, 2);
  append(channels, 2);
  append(rate, 4);
  append(uint64_t{rate} * channels * bits / 8, 4);
  append(channels * bits / 8, 2);
  append(bits, 2);
  wav += "data";
  append(claimed, 4);
  return wav + data;
}

// What libsndfile writes.
std::string EncodeAs(int format, const Sound& sound) {
  const std::string path = testing::TempDir() + "encoded";
  SF_INFO info = {};
  info.samplerate = static_cast<int>(sound.rate);
  info.channels = 1;
  info.format = format;
  SNDFILE* file = sf_open(path.c_str(), SFM_WRITE, &info);
  EXPECT_NE(file, nullptr) << sf_strerror(nullptr);
  sf_write_float(file, sound.samples.data(), std::ssize(sound.samples));
  sf_close(file);
  return ReadFile(path);
}
constexpr int kFlac = SF_FORMAT_FLAC | SF_FORMAT_PCM_16;
constexpr int kVorbis = SF_FORMAT_OGG | SF_FORMAT_VORBIS;
constexpr int kOpus = SF_FORMAT_OGG | SF_FORMAT_OPUS;

TEST(SoundTest, FlacAndOthersHoldTheSameSound) {
  const Sound sound = Tone(440, 16000, 1);
  for (const int format :
       {kFlac, SF_FORMAT_AIFF | SF_FORMAT_PCM_16, SF_FORMAT_AU | SF_FORMAT_FLOAT, kOpus}) {
    const std::string bytes = EncodeAs(format, sound);
    EXPECT_NE(SoundRefusal(bytes.substr(0, bytes.size() / 2)), "") << format;
    const Sound read = DecodeSound(bytes, "s");
    EXPECT_EQ(read.rate, 16000);
    ASSERT_EQ(read.samples.size(), sound.samples.size()) << format;
    const bool lossy = format == kOpus;
    for (size_t i = 2000; i < 14000; ++i)
      ASSERT_NEAR(read.samples[i], sound.samples[i], lossy ? 0.05 : 1e-4) << format << " " << i;
  }
}

TEST(SoundTest, FlacThatIsCutOrDamagedIsRefused) {
  Random random({1});
  const int64_t digits[] = {1, 2, 3};
  const std::string good = EncodeAs(kFlac, SoundDigits(digits, 16000, &random));
  EXPECT_EQ(SoundRefusal(good), "");
  testing::internal::CaptureStderr();
  for (size_t size = 0; size < good.size(); size += 97)
    EXPECT_NE(SoundRefusal(good.substr(0, size)), "") << size;
  std::string damaged = good;
  damaged[good.size() / 2] = static_cast<char>(~damaged[good.size() / 2]);
  EXPECT_THAT(SoundRefusal(damaged), HasSubstr("damaged"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

// Five hours in less than a megabyte.
TEST(SoundTest, HoursOfSilenceAreRefused) {
  const std::string hours = EncodeAs(kFlac, Silence(1000, 5 * 3600));
  EXPECT_LT(hours.size(), size_t{1} << 20);
  EXPECT_THAT(SoundRefusal(hours), HasSubstr("is longer than 14400 s"));
  EXPECT_EQ(SoundRefusal(hours, {.max_seconds = 5 * 3600}), "");
}

TEST(SoundTest, WavComesBackAsItWas) {
  Sound sound{8000, {}};
  for (int value = -32768; value < 32768; value += 37)
    sound.samples.push_back(static_cast<float>(value) / 32768);
  const Sound read = DecodeSound(EncodeWav(sound), "s");
  EXPECT_EQ(read.rate, 8000);
  EXPECT_EQ(read.samples, sound.samples);
  EXPECT_THAT(DecodeSound(EncodeWav({8000, {2, -2}}), "s").samples,
              ElementsAre(32767.0f / 32768, -1));
}

TEST(SoundTest, ChannelsBecomeTheirMean) {
  const std::string two("\x00\x40\x00\x00\x00\x20\x00\x60", 8);  // 0.5, 0, then 0.25, 0.75
  EXPECT_THAT(DecodeSound(WavOf(8000, 2, 1, 16, 8, two), "s").samples, ElementsAre(0.25f, 0.5f));
}

TEST(SoundTest, DamagedFilesAreRefusedByName) {
  const std::string good = EncodeWav(Tone(440, 8000, 0.1));
  EXPECT_EQ(SoundRefusal(good), "");
  EXPECT_THAT(SoundRefusal(""), HasSubstr("is empty"));
  EXPECT_THAT(SoundRefusal("hello, world"),
              HasSubstr("begins with 'hello, w', expected WAV, FLAC"));
  EXPECT_THAT(SoundRefusal(EncodeAs(kVorbis, Tone(440, 8000, 1))),
              HasSubstr("expected WAV, FLAC, Opus in Ogg"));
  EXPECT_THAT(SoundRefusal("RIFFxxxx"), HasSubstr("damaged"));
  EXPECT_THAT(SoundRefusal(good.substr(0, 500)),
              AllOf(HasSubstr("456 bytes of sound"), HasSubstr("expected 1600")));
  EXPECT_THAT(SoundRefusal(EncodeWav({8000, {}})), HasSubstr("holds no sound"));
  EXPECT_THAT(SoundRefusal(WavOf(3, 1, 1, 16, 4, "abcd")), HasSubstr("has 3 samples a second"));
  for (const float number : {std::numeric_limits<float>::quiet_NaN(), -INFINITY, 3e38f}) {
    const float numbers[] = {0.5f, number};
    const std::string data(reinterpret_cast<const char*>(numbers), 8);
    EXPECT_THAT(SoundRefusal(WavOf(8000, 1, 3, 32, 8, data)),
                HasSubstr("no sound (NaN, or above 1000000) at sample 1"));
  }
  // A pipe's header, whose writer did not know the length.
  EXPECT_EQ(SoundRefusal(WavOf(8000, 1, 1, 16, 0xFFFFFFFF, "abcd")), "");
}

TEST(SoundTest, LengthsBeyondLimitsAreRefused) {
  const std::string second = EncodeWav(Tone(440, 8000, 1));
  EXPECT_EQ(SoundRefusal(second, {.max_seconds = 1}), "");
  EXPECT_THAT(SoundRefusal(second, {.max_seconds = 0.999}), HasSubstr("is longer than"));
  EXPECT_THAT(SoundRefusal(second, {.max_samples = 7999}), HasSubstr("is longer than"));
  EXPECT_THAT(SoundRefusal(second, {.max_bytes = 16043}), HasSubstr("expected at most 16043"));
}

TEST(SoundTest, LibrariesWriteNothingToStandardError) {
  testing::internal::CaptureStderr();
  const std::string good = EncodeWav(Tone(440, 8000, 0.1));
  for (size_t size = 0; size < good.size(); size += 7)
    EXPECT_NE(SoundRefusal(good.substr(0, size)), "");
  EXPECT_NE(SoundRefusal("ID3\3\0\0\0\0\0\0 no music"), "");
  EXPECT_NE(SoundRefusal("\xff\xfb\x90\x64 no music"), "");
  EXPECT_NE(SoundRefusal("fLaC no music"), "");
  EXPECT_NE(SoundRefusal("OggS no music"), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(ResampleTest, TonesStayAndAliasesGo) {
  for (const auto& [from, to] :
       {std::pair<int64_t, int64_t>{8000, 16000}, {44100, 16000}, {16000, 8000}}) {
    const Sound there = Resample(Tone(1000, from, 1), to), wanted = Tone(1000, to, 1);
    EXPECT_EQ(there.rate, to);
    ASSERT_EQ(there.samples.size(), wanted.samples.size());
    for (size_t i = to / 10; i < there.samples.size() - to / 10; ++i)
      ASSERT_NEAR(there.samples[i], wanted.samples[i], 1e-4) << i;
  }
  const Sound alias = Resample(Tone(7000, 16000, 1), 8000);  // above half the new rate
  for (size_t i = 800; i < alias.samples.size() - 800; ++i) ASSERT_NEAR(alias.samples[i], 0, 1e-4);
  EXPECT_EQ(Resample({8000, std::vector<float>(7)}, 11025).samples.size(), 10u);
  EXPECT_THROW(Resample(Tone(1, 8000, 1), 8000 * 300), Error);
  EXPECT_THROW(Resample(Tone(1, 8000, 1), 16000, {.max_samples = 15999}), Error);
}

// By the definition, one number after another.
std::vector<double> PlainLogMel(const std::vector<float>& samples, const FrameInput& options) {
  const int64_t fft = options.fft, size = std::ssize(samples);
  std::vector<double> numbers;
  const auto filters = MakeMelFilters(options.rate, fft, options.mels, options.low,
                                      static_cast<double>(options.rate) / 2);
  for (int64_t t = 0; t < size / options.hop; ++t) {
    std::vector<double> power;
    for (int64_t bin = 0; bin <= fft / 2; ++bin) {
      std::complex<double> sum = 0;
      for (int64_t i = 0; i < fft; ++i) {
        int64_t at = std::abs(t * options.hop - fft / 2 + i);
        if (at >= size) at = 2 * (size - 1) - at;
        const double turn =
            2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(fft);
        sum += (0.5 - 0.5 * std::cos(turn)) * samples[at] *
               std::polar(1.0, -turn * static_cast<double>(bin));
      }
      power.push_back(std::norm(sum));
    }
    for (const MelFilter& filter : filters) {
      double energy = 0;
      for (size_t i = 0; i < filter.weights.size(); ++i)
        energy += filter.weights[i] * power[filter.first + i];
      numbers.push_back(std::log10(std::max(energy, 1e-10)));
    }
  }
  const double loudest = *std::ranges::max_element(numbers);
  for (double& number : numbers) number = (std::max(number, loudest - 8) + 4) / 4;
  return numbers;
}

TEST(LogMelTest, FramesAreThoseOfTheDefinition) {
  Random random({1});
  const int64_t digits[] = {4};
  for (const FrameInput& options :
       {FrameInput{}, FrameInput{.rate = 8000, .fft = 202, .hop = 80, .mels = 20, .low = 50}}) {
    const Sound sound = SoundDigits(digits, options.rate, &random);
    const LogMel log_mel(options);
    const std::vector<float> frames = log_mel.Frames(sound.samples);
    const std::vector<double> wanted = PlainLogMel(sound.samples, options);
    ASSERT_EQ(std::ssize(frames), options.FramesOf(std::ssize(sound.samples)) * options.mels);
    ASSERT_EQ(frames.size(), wanted.size());
    for (size_t i = 0; i < frames.size(); ++i) ASSERT_NEAR(frames[i], wanted[i], 2e-6) << i;
  }
}

// What is filled up has the frames of the filled sound; 16 bits give back what they were made of.
TEST(SoundFramesTest, FillsUpWithSilence) {
  Random random({1});
  const int64_t digits[] = {4};
  FrameInput input{.padded_seconds = 2};
  const Sound sound = SoundDigits(digits, input.rate, &random);
  const SoundFrames filling(input);
  std::vector<float> filled = sound.samples;
  filled.resize(2 * input.rate);
  EXPECT_EQ(filling.Of(sound.samples, "sound"), LogMel(input).Frames(filled));
  EXPECT_EQ(filling.Count(std::ssize(sound.samples)), 200);
  EXPECT_THROW(filling.Of(std::vector<float>(2 * input.rate + 1), "sound"), Error);
  EXPECT_THROW(filling.Of(std::vector<float>(), "sound"), Error);
  input.padded_seconds = 0;
  const SoundFrames as_it_is(input);
  const std::vector<float> samples = {0, 0.5, -1, -7, 3, 1.0f / 32768};
  const std::vector<int16_t> bits = SixteenBits(samples);
  EXPECT_THAT(bits, testing::ElementsAre(0, 16384, -32768, -32768, 32767, 1));
  const std::vector<float> cut = {0, 0.5, -1, -1, 32767.0f / 32768, 1.0f / 32768};
  EXPECT_EQ(as_it_is.Of(OfSixteenBits(bits), "sound"), LogMel(input).Frames(cut));
}

TEST(LogMelTest, ShortAndSilentSoundsHaveFrames) {
  const LogMel log_mel(FrameInput{});
  EXPECT_TRUE(log_mel.Frames({}).empty());
  for (const size_t samples : {1, 2, 159, 160, 200, 401}) {
    const std::vector<float> silent(samples);
    const auto frames = log_mel.Frames(silent);
    EXPECT_EQ(frames.size(), 80 * std::max<size_t>(1, samples / 160));
    EXPECT_THAT(frames, testing::Each(-1.5f));  // log10(1e-10) is -10
  }
}

TEST(LogMelTest, RecordingsAndBandsAreStandardised) {
  Random random({1});
  const int64_t digits[] = {4, 2};
  const Sound sound = SoundDigits(digits, 16000, &random);
  for (const FrameScale scale : {FrameScale::kRecording, FrameScale::kBands}) {
    const std::vector<float> frames = LogMel(FrameInput{.scale = scale}).Frames(sound.samples);
    const bool whole = scale == FrameScale::kRecording;
    for (size_t band = 0; band < (whole ? 1 : 80); ++band) {
      double sum = 0, squares = 0, count = 0;
      for (size_t i = band; i < frames.size(); i += whole ? 1 : 80) {
        sum += frames[i];
        squares += frames[i] * frames[i];
        ++count;
      }
      EXPECT_NEAR(sum / count, 0, 1e-5);
      EXPECT_NEAR(squares / count, 1, 1e-4);
    }
  }
}

TEST(SilenceTest, CutsWhereNobodySpeaks) {
  Sound sound = Silence(8000, 1);
  for (const double seconds : {2.0, 3.0, 4.0}) {
    Append(Tone(300, 8000, seconds), &sound);
    Append(Silence(8000, 0.5), &sound);
  }
  const auto cut = [&](const SilenceOptions& options) {
    std::vector<std::pair<double, double>> found;
    for (const auto& [begin, end] : CutAtSilence(sound.samples, 8000, options))
      found.emplace_back(static_cast<double>(begin) / 8000, static_cast<double>(end) / 8000);
    return found;
  };
  using Segments = std::vector<std::pair<double, double>>;
  EXPECT_EQ(cut({}), (Segments{{0.9, 11.1}}));  // all of it fits
  EXPECT_EQ(cut({.max_seconds = 6}), (Segments{{0.9, 6.6}, {6.9, 11.1}}));
  EXPECT_EQ(cut({.max_seconds = 5, .margin = 0}), (Segments{{1, 3}, {3.5, 6.5}, {7, 11}}));
  EXPECT_EQ(cut({.max_seconds = 5, .min_silence = 0.6}).size(), 3u);  // by length alone
  for (const auto& [begin, end] : cut({.max_seconds = 1.5})) EXPECT_LE(end - begin, 1.5 + 1e-9);
  sound = Silence(8000, 100);
  EXPECT_TRUE(cut({}).empty());
  sound.samples.clear();
  EXPECT_TRUE(cut({}).empty());
}

TEST(SilenceTest, LongSpeechIsCutAtItsQuietestMoment) {
  Sound sound = Tone(300, 8000, 4);
  Append(Tone(300, 8000, 0.1, 0.1f), &sound);  // a breath, which is no silence
  Append(Tone(300, 8000, 3), &sound);
  const auto segments = CutAtSilence(sound.samples, 8000, {.max_seconds = 5});
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_EQ(segments[0].begin, 0);
  EXPECT_EQ(segments[0].end, segments[1].begin);
  EXPECT_NEAR(static_cast<double>(segments[1].begin), 4.05 * 8000, 0.05 * 8000);
  EXPECT_EQ(segments[1].end, std::ssize(sound.samples));
}

TEST(MadeDigitsTest, FollowFromTheKeyAndDiffer) {
  std::set<std::vector<uint8_t>> pictures;
  for (uint64_t key = 0; key < 10; ++key) {
    for (int64_t digit = 0; digit < 10; ++digit) {
      Random random({key}), again({key});
      const Picture picture = DrawDigit(digit, &random);
      EXPECT_EQ(picture, DrawDigit(digit, &again));
      pictures.insert(picture.pixels);
      const auto ink = std::ranges::count_if(picture.pixels, [](uint8_t p) { return p > 128; });
      EXPECT_GT(ink, 15) << digit;
      EXPECT_LT(ink, 300) << digit;
    }
  }
  EXPECT_EQ(pictures.size(), 100u);
}

TEST(MadeDigitsTest, SoundTheTonesOfTheirKeys) {
  constexpr double kTones[10][2] = {{941, 1336}, {697, 1209}, {697, 1336}, {697, 1477},
                                    {770, 1209}, {770, 1336}, {770, 1477}, {852, 1209},
                                    {852, 1336}, {852, 1477}};
  for (int64_t digit = 0; digit < 10; ++digit) {
    Random random({1, static_cast<uint64_t>(digit)}), again({1, static_cast<uint64_t>(digit)});
    const int64_t digits[] = {digit};
    const Sound sound = SoundDigits(digits, 8000, &random);
    EXPECT_EQ(sound.samples, SoundDigits(digits, 8000, &again).samples);
    // The strongest frequencies below and above 1,075 Hz.
    std::pair<double, double> low = {0, 0}, high = {0, 0};
    for (double hertz = 600; hertz < 1600; hertz += 5) {
      std::complex<double> sum = 0;
      for (size_t i = 0; i < sound.samples.size(); ++i)
        sum += static_cast<double>(sound.samples[i]) *
               std::polar(1.0, 2 * std::numbers::pi * hertz * static_cast<double>(i) / 8000);
      auto& best = hertz < 1075 ? low : high;
      best = std::max(best, {std::abs(sum), hertz});
    }
    EXPECT_NEAR(low.second / kTones[digit][0], 1, 0.04);
    EXPECT_NEAR(low.second / high.second, kTones[digit][0] / kTones[digit][1], 0.01);
  }
}

// A tone that is faster is shorter and higher by the same factor.
TEST(SpectrogramTest, LoudFramesAreBrightAndLowBandsAtTheBottom) {
  // Two bands; the low one is loud in the second half.
  const std::vector<float> frames = {0, 0, 0, 0, 4, 0, 4, 2};
  const Picture whole = DrawSpectrogram(frames, 2, 100);
  EXPECT_EQ(whole.width, 4);
  EXPECT_THAT(whole.pixels, ElementsAre(0, 0, 0, 128, 0, 0, 255, 255));
  const Picture shorter = DrawSpectrogram(frames, 2, 2);  // of means
  EXPECT_THAT(shorter.pixels, ElementsAre(0, 64, 0, 255));
  EXPECT_THAT(DrawSpectrogram(std::vector<float>{3, 3}, 2, 9).pixels,
              ElementsAre(0, 0));  // nothing stands out
}

}  // namespace
}  // namespace attend
