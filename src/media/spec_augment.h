// Random changes of recordings in training: of their speed (Ko et al. 2015), of the length of the
// vocal tract that seems to speak (Jaitly and Hinton 2013), silence around them, noise, and masks
// over log-mel frames (SpecAugment, Park et al. 2019, without its time warp).
#ifndef ATTEND_MEDIA_SPEC_AUGMENT_H_
#define ATTEND_MEDIA_SPEC_AUGMENT_H_

#include <cstdint>
#include <span>

#include "base/fields.h"
#include "base/random.h"
#include "media/sound.h"

namespace attend {

struct SpecAugmentOptions {
  int64_t frequency_masks = 0;  // each over the same bands of all frames
  int64_t frequency_width = 27;
  int64_t time_masks = 0;  // each over all bands of some frames
  int64_t time_width = 100;
  double time_share = 1;  // of the frames that one time mask may cover at most
  double speed = 0;       // a recording is up to this share faster or slower, and higher or lower
  double warp = 0;        // its formants are up to this share higher or lower
  double silence = 0;     // seconds of silence that it has before and after it, at most
  double noise = 0;       // its noise is up to this share of its root mean square
};

FieldList Fields(SpecAugmentOptions& options);

// The sound at a speed that the generator draws between 1 - speed and 1 + speed; nothing is drawn
// where that is 0.
Sound ChangeSpeed(const SpecAugmentOptions& options, Sound sound, Random* random);

// The factor of frequencies that MakeMelFilters takes, which the generator draws between 1 - warp
// and 1 + warp; 1, and nothing drawn, where that is 0.
double DrawWarp(const SpecAugmentOptions& options, Random* random);

// The sound with up to `silence` seconds of zeros before it and, drawn by itself, after it; nothing
// is drawn where that is 0.
Sound AddSilence(const SpecAugmentOptions& options, Sound sound, Random* random);

// Adds noise with the deviation of a share of the samples' root mean square, which the generator
// draws between noise / 1000 and noise, evenly in decibels. Its spectrum is white or tilts to the
// low frequencies: a recursive filter of one pole, drawn between 0 and 0.9. Where `noise` is 0
// nothing is drawn.
void AddNoise(const SpecAugmentOptions& options, Random* random, std::span<float> samples);

// Sets what masks cover to the mean of all numbers. A mask's width is uniform from 0 to the largest
// one, its place uniform. All follows from the generator, which the caller keys. frames_TF is [T,
// mels].
void MaskFrames(const SpecAugmentOptions& options, int64_t mels, Random* random,
                std::span<float> frames_TF);

}  // namespace attend

#endif  // ATTEND_MEDIA_SPEC_AUGMENT_H_
