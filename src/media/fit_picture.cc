#include "media/fit_picture.h"

#include <algorithm>
#include <cmath>

#include "media/crop.h"
#include "media/picture_codec.h"
#include "media/resize.h"

namespace attend {

Picture FitPicture(Picture picture, const PatchInput& input) {
  if (picture.channels != input.channels) picture = ToChannels(picture, input.channels);
  if (picture.width == input.width && picture.height == input.height) return picture;
  const Interpolation interpolation = input.resampling == Resampling::kBilinear
                                          ? Interpolation::kBilinear
                                          : Interpolation::kBicubic;
  if (input.fit == PictureFit::kStretch)
    return Resize(picture, input.width, input.height, interpolation);
  // The smallest picture of its shape that covers the model's.
  const auto width = static_cast<double>(picture.width),
             height = static_cast<double>(picture.height);
  const double scale = std::max(static_cast<double>(input.width) / width,
                                static_cast<double>(input.height) / height);
  const auto side = [scale](double own, int64_t least) {
    return std::max(least, static_cast<int64_t>(std::lround(own * scale)));
  };
  picture = Resize(picture, side(width, input.width), side(height, input.height), interpolation);
  return CentreCrop(picture, input.width, input.height);
}

Picture DecodeFitted(std::string_view bytes, const std::string& name, const PatchInput& input) {
  return FitPicture(DecodePicture(bytes, name, input.channels), input);
}

Picture ReadFitted(const std::filesystem::path& path, const PatchInput& input) {
  return FitPicture(ReadPicture(path, input.channels), input);
}

}  // namespace attend
