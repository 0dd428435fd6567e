// Sounds for tests.
#ifndef ATTEND_MEDIA_TEST_SOUNDS_H_
#define ATTEND_MEDIA_TEST_SOUNDS_H_

#include <cmath>
#include <cstdint>
#include <numbers>

#include "media/sound.h"

namespace attend {

inline Sound Tone(double hertz, int64_t rate, double seconds, float loudness = 0.5f) {
  Sound sound{rate, {}};
  for (int64_t i = 0; i < static_cast<int64_t>(seconds * static_cast<double>(rate)); ++i) {
    const double turns = hertz * static_cast<double>(i) / static_cast<double>(rate);
    sound.samples.push_back(loudness * static_cast<float>(std::sin(2 * std::numbers::pi * turns)));
  }
  return sound;
}

}  // namespace attend

#endif  // ATTEND_MEDIA_TEST_SOUNDS_H_
