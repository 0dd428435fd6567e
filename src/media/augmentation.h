// Random changes of pictures in training, so that a model sees each of them in many ways.
//
// All of it follows from the generator that the caller keys by what it is for, such as {seed,
// epoch, example}: nothing depends on batches, threads or what was drawn before.
#ifndef ATTEND_MEDIA_AUGMENTATION_H_
#define ATTEND_MEDIA_AUGMENTATION_H_

#include <cstdint>
#include <optional>
#include <span>

#include "base/fields.h"
#include "base/random.h"
#include "media/crop.h"
#include "media/picture.h"

namespace attend {

struct AugmentationOptions {
  int64_t shift = 0;           // pixels at most, across and down
  double flip = 0;             // probability of left and right in exchange
  int64_t crop_margin = 0;     // black pixels around the picture, before a crop of its size
  double crop_area = 1;        // smallest share of the area that a crop may have before resizing
  int64_t rand_augment = 0;    // changes drawn for each picture
  int64_t rand_magnitude = 9;  // their strength, to 30
  double erase = 0;            // probability that a box is erased
};

FieldList Fields(AugmentationOptions& options);

// The changes that `options` ask for, in the order of its members; after the crops the picture is
// brought to `width` x `height`. An erased box is filled with `fill`, a value for each channel.
// Each kind draws from a stream of its own, so that one more kind leaves what the others draw.
// `key` alone decides.
Picture Augment(const Picture& picture, const AugmentationOptions& options, int64_t width,
                int64_t height, std::span<const uint8_t> fill, uint64_t key);

// The parts of it. Equal in distribution to torchvision's transforms.

// RandomResizedCrop: its share of the area is uniform in [min_area, 1], its width to height
// log-uniform in [3/4, 4/3].
Box DrawResizedCrop(int64_t width, int64_t height, double min_area, Random* random);

// `changes` of kPictureChanges, each equally likely, the signed ones either way.
Picture RandAugment(const Picture& picture, int64_t changes, int64_t magnitude, Random* random);

// RandomErasing (Zhong et al. 2020): 2 % to 33 % of the area, height to width 0.3 to 3.3. Nothing
// where ten draws do not fit, as of very long pictures.
std::optional<Box> DrawErasedBox(int64_t width, int64_t height, Random* random);

void Fill(const Box& box, std::span<const uint8_t> fill, Picture* picture);

}  // namespace attend

#endif  // ATTEND_MEDIA_AUGMENTATION_H_
