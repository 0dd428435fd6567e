// The changes of pictures that RandAugment draws from (Cubuk et al. 2020), each equal to Pillow's
// to the bit, with the strengths of torchvision's transforms.RandAugment.
#ifndef ATTEND_MEDIA_PICTURE_CHANGES_H_
#define ATTEND_MEDIA_PICTURE_CHANGES_H_

#include <cstdint>

#include "media/picture.h"

namespace attend {

enum class PictureChange {
  kIdentity,
  kShearX,      // columns a row further down, in columns
  kShearY,      // rows a column further right, in rows
  kTranslateX,  // pixels to the right
  kTranslateY,  // pixels down
  kRotate,      // degrees against the clock
  kBrightness,  // 0 is as it is, -1 black
  kColor,       // 0 is as it is, -1 grey
  kContrast,    // 0 is as it is, -1 an even grey
  kSharpness,   // 0 is as it is, -1 smoothed
  kPosterize,   // bits of a value that stay
  kSolarize,    // values from here on are inverted
  kAutoContrast,
  kEqualize,
};
inline constexpr int64_t kPictureChanges = 14;

// What comes in from outside is black. Where `value` is for something else, it is not looked at.
Picture Change(const Picture& picture, PictureChange change, double value);

// Strengths go from 0 to this.
inline constexpr int64_t kMaxMagnitude = 30;

// The value of a change at a strength. Of those that go both ways (IsSigned) the positive one.
double ChangeValue(PictureChange change, int64_t magnitude, int64_t width, int64_t height);
bool IsSigned(PictureChange change);

}  // namespace attend

#endif  // ATTEND_MEDIA_PICTURE_CHANGES_H_
