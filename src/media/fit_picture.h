// A picture as a model reads it.
#ifndef ATTEND_MEDIA_FIT_PICTURE_H_
#define ATTEND_MEDIA_FIT_PICTURE_H_

#include "attend/model_config.h"
#include "media/picture.h"

namespace attend {

// With the channels and the size of the model's pictures, as `input.fit` says.
Picture FitPicture(Picture picture, const PatchInput& input);

}  // namespace attend

#endif  // ATTEND_MEDIA_FIT_PICTURE_H_
