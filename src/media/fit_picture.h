// A picture as a model reads it.
#ifndef ATTEND_MEDIA_FIT_PICTURE_H_
#define ATTEND_MEDIA_FIT_PICTURE_H_

#include <filesystem>
#include <string>
#include <string_view>

#include "attend/model_config.h"
#include "media/picture.h"

namespace attend {

// With the channels and the size of the model's pictures, as `input.fit` says.
Picture FitPicture(Picture picture, const PatchInput& input);

// The same of a PNG or JPEG file's bytes, or of the file at `path`. Throw as DecodePicture does.
Picture DecodeFitted(std::string_view bytes, const std::string& name, const PatchInput& input);
Picture ReadFitted(const std::filesystem::path& path, const PatchInput& input);

}  // namespace attend

#endif  // ATTEND_MEDIA_FIT_PICTURE_H_
