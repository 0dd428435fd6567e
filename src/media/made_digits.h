// Digits that this program makes, drawn and sounded: data for demonstrations and tests that anybody
// has, may use, and need not fetch.
#ifndef ATTEND_MEDIA_MADE_DIGITS_H_
#define ATTEND_MEDIA_MADE_DIGITS_H_

#include <cstdint>
#include <span>

#include "base/random.h"
#include "media/picture.h"
#include "media/sound.h"

namespace attend {

// A digit from 0 to 9, white on black, 28 x 28 and grey as MNIST's: strokes of random slant, size,
// place, thickness and shape, and noise. The generator alone decides.
Picture DrawDigit(int64_t digit, Random* random);

// Digits from 0 to 9 one after another, each as the two tones of its telephone key (ITU-T Q.23), of
// random pitch, length and loudness, with pauses and noise. The generator alone decides.
Sound SoundDigits(std::span<const int64_t> digits, int64_t rate, Random* random);

}  // namespace attend

#endif  // ATTEND_MEDIA_MADE_DIGITS_H_
