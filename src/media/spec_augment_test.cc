#include "media/spec_augment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "media/log_mel.h"
#include "media/test_sounds.h"

namespace attend {
namespace {

TEST(SpecAugmentTest, MasksBandsAndFramesByTheKey) {
  constexpr int64_t kFrames = 50, kMels = 20;
  std::vector<float> frames(kFrames * kMels);
  std::iota(frames.begin(), frames.end(), 1.0f);
  const auto mean = static_cast<float>((kFrames * kMels + 1) / 2.0);
  const SpecAugmentOptions options{2, 5, 1, 30, 0.2};
  std::set<std::vector<float>> seen;
  int64_t widest_band = 0, widest_time = 0;
  for (uint64_t key = 0; key < 300; ++key) {
    std::vector<float> masked = frames, again = frames;
    Random random({key}), same({key});
    MaskFrames(options, kMels, &random, masked);
    MaskFrames(options, kMels, &same, again);
    EXPECT_EQ(masked, again);
    seen.insert(masked);
    // Whole columns and whole rows, and nothing else.
    std::set<int64_t> bands, times;
    const auto is_masked = [&](int64_t t, int64_t band) {
      return masked[t * kMels + band] != frames[t * kMels + band] ||
             masked[t * kMels + band] == mean;
    };
    for (int64_t band = 0; band < kMels; ++band)
      if (is_masked(0, band) && is_masked(25, band) && is_masked(49, band)) bands.insert(band);
    for (int64_t t = 0; t < kFrames; ++t) {
      int64_t count = 0;
      for (int64_t band = 0; band < kMels; ++band) count += is_masked(t, band) ? 1 : 0;
      if (count == kMels) times.insert(t);
      if (count != kMels) {
        EXPECT_EQ(count, std::ssize(bands));
      }
    }
    EXPECT_LE(bands.size(), 10u);
    EXPECT_LE(times.size(), 10u);  // a fifth of the frames
    widest_band = std::max(widest_band, std::ssize(bands));
    widest_time = std::max(widest_time, std::ssize(times));
  }
  EXPECT_GE(widest_band, 8);
  EXPECT_EQ(widest_time, 10);
  EXPECT_GT(seen.size(), 290u);
}

TEST(ChangeSpeedTest, ChangesLengthAndPitchTogether) {
  const Sound tone = Tone(500, 8000, 1);
  const auto hertz = [](const Sound& sound) {  // by the crossings of zero
    int64_t crossings = 0;
    for (size_t i = 1; i < sound.samples.size(); ++i)
      if (sound.samples[i - 1] < 0 && sound.samples[i] >= 0) ++crossings;
    return static_cast<double>(crossings) / sound.seconds();
  };
  std::set<size_t> lengths;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Random random({seed}), again({seed});
    const Sound changed = ChangeSpeed({.speed = 0.2}, tone, &random);
    const double factor = tone.seconds() / changed.seconds();
    EXPECT_GE(factor, 0.79);
    EXPECT_LE(factor, 1.21);
    EXPECT_NEAR(hertz(changed), 500 * factor, 4);
    EXPECT_EQ(ChangeSpeed({.speed = 0.2}, tone, &again).samples, changed.samples);
    lengths.insert(changed.samples.size());
  }
  EXPECT_GT(lengths.size(), 5u);
  Random random({1}), untouched({1});
  EXPECT_EQ(ChangeSpeed({}, tone, &random).samples, tone.samples);
  EXPECT_EQ(random.Uniform(), untouched.Uniform());  // nothing was drawn
}

// A tone seen through warped bands is where one of the other frequency is without.
TEST(WarpTest, MovesTonesByItsFactor) {
  const FrameInput input{.scale = FrameScale::kRecording};
  const LogMel log_mel(input);
  const auto loudest = [&](double hertz, double warp) {
    const std::vector<float> frames = log_mel.Frames(Tone(hertz, input.rate, 0.1).samples, warp);
    const auto middle = frames.begin() + 5 * input.mels;
    return std::max_element(middle, middle + input.mels) - middle;
  };
  for (const double warp : {0.8, 0.9, 1.1, 1.2}) {
    for (const double hertz : {400, 1000, 2500})
      EXPECT_LE(std::abs(loudest(hertz, warp) - loudest(hertz * warp, 1)), 1) << hertz << warp;
    EXPECT_EQ(loudest(7950, warp), 79);  // half the rate stays where it is
  }
  EXPECT_NE(loudest(1000, 1.2), loudest(1000, 1));
  Random random({1}), same({1}), untouched({1});
  for (int i = 0; i < 100; ++i) {
    const double warp = DrawWarp({.warp = 0.2}, &random);
    EXPECT_GE(warp, 0.8);
    EXPECT_LE(warp, 1.2);
    EXPECT_EQ(warp, DrawWarp({.warp = 0.2}, &same));
  }
  Random drawn_from({1});
  EXPECT_EQ(DrawWarp({}, &drawn_from), 1);
  EXPECT_EQ(drawn_from.Uniform(), untouched.Uniform());  // nothing was drawn
}

TEST(SilenceAroundTest, StandsBeforeAndAfterTheSound) {
  const Sound tone = Tone(440, 8000, 0.1);
  std::set<size_t> befores, lengths;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Random random({seed}), same({seed});
    const Sound longer = AddSilence({.silence = 0.2}, tone, &random);
    EXPECT_EQ(longer.samples, AddSilence({.silence = 0.2}, tone, &same).samples);
    const auto found = std::ranges::search(longer.samples, tone.samples).begin();
    ASSERT_NE(found, longer.samples.end());
    const auto before = static_cast<size_t>(found - longer.samples.begin());
    const size_t after = longer.samples.size() - before - tone.samples.size();
    EXPECT_LE(before, 1600u);
    EXPECT_LE(after, 1600u);
    EXPECT_EQ(std::ranges::count(longer.samples, 0.0f) - std::ranges::count(tone.samples, 0.0f),
              static_cast<int64_t>(before + after));
    befores.insert(before);
    lengths.insert(longer.samples.size());
  }
  EXPECT_GT(befores.size(), 40u);
  EXPECT_GT(lengths.size(), 40u);
  Random random({1}), untouched({1});
  EXPECT_EQ(AddSilence({}, tone, &random).samples, tone.samples);
  EXPECT_EQ(random.Uniform(), untouched.Uniform());  // nothing was drawn
}

TEST(NoiseTest, HasItsShareOfTheSound) {
  const std::vector<float> tone = Tone(440, 8000, 1).samples;
  const auto level = [](const std::vector<float>& samples) {
    double squares = 0;
    for (const float sample : samples) squares += static_cast<double>(sample) * sample;
    return std::sqrt(squares / static_cast<double>(samples.size()));
  };
  double decibels = 0;
  std::set<float> seen;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random({seed}), same({seed});
    std::vector<float> noisy = tone, again = tone;
    AddNoise({.noise = 0.1}, &random, noisy);
    AddNoise({.noise = 0.1}, &same, again);
    EXPECT_EQ(noisy, again);
    seen.insert(noisy[0]);
    for (size_t i = 0; i < noisy.size(); ++i) noisy[i] -= tone[i];
    const double share = level(noisy) / level(tone);
    EXPECT_GE(share, 0.1 / 1000 * 0.9);
    EXPECT_LE(share, 0.1 * 1.1);
    decibels += 20 * std::log10(share) / 200;
  }
  EXPECT_NEAR(decibels, -50, 3);  // half way from -20 to -80
  EXPECT_GT(seen.size(), 190u);
  Random random({1}), untouched({1});
  std::vector<float> same = tone;
  AddNoise({}, &random, same);
  EXPECT_EQ(same, tone);
  EXPECT_EQ(random.Uniform(), untouched.Uniform());  // nothing was drawn
}

}  // namespace
}  // namespace attend
