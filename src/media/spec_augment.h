// Random changes of recordings in training: of their speed (Ko et al. 2015), and masks over log-mel
// frames (SpecAugment, Park et al. 2019, without its time warp).
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
};

FieldList Fields(SpecAugmentOptions& options);

// The sound at a speed that the generator draws between 1 - speed and 1 + speed; nothing is drawn
// where that is 0.
Sound ChangeSpeed(const SpecAugmentOptions& options, Sound sound, Random* random);

// Sets what masks cover to the mean of all numbers. A mask's width is uniform from 0 to the largest
// one, its place uniform. All follows from the generator, which the caller keys. frames_TF is [T,
// mels].
void MaskFrames(const SpecAugmentOptions& options, int64_t mels, Random* random,
                std::span<float> frames_TF);

}  // namespace attend

#endif  // ATTEND_MEDIA_SPEC_AUGMENT_H_
