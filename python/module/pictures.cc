#include "python/module/pictures.h"

#include "base/files.h"
#include "media/picture_codec.h"

namespace attend {
namespace nb = nanobind;

std::string PictureOf(nb::handle picture, std::string* name) {
  if (PyBytes_Check(picture.ptr())) {
    const nb::bytes bytes = nb::borrow<nb::bytes>(picture);
    return {bytes.c_str(), bytes.size()};
  }
  *name = PathOf(picture);
  return ReadFile(*name, PictureLimits().max_bytes);
}

}  // namespace attend
