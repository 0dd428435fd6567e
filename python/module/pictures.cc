#include "python/module/pictures.h"

#include <fmt/format.h>

#include "base/files.h"
#include "media/picture_codec.h"
#include "python/module/paths.h"
#include "python/module/texts.h"

namespace attend {
namespace nb = nanobind;
namespace {

// The bytes of a picture's file, or of the file at a path, which becomes its name.
std::string FileOf(const nb::handle& picture, std::string* name) {
  if (PyBytes_Check(picture.ptr())) {
    const nb::bytes bytes = nb::borrow<nb::bytes>(picture);
    return {bytes.c_str(), bytes.size()};
  }
  *name = PathOf(picture);
  return ReadFile(*name, PictureLimits().max_bytes);
}

}  // namespace

GivenPictures PicturesOf(nb::handle pictures) {
  RefuseOnePath(pictures);
  GivenPictures given;
  const nb::object iterator = IteratorOf(pictures);
  for (nb::object next = NextOf(iterator); next.is_valid(); next = NextOf(iterator)) {
    given.names.push_back(fmt::format("picture {}", given.names.size() + 1));
    given.files.push_back(FileOf(next, &given.names.back()));
  }
  return given;
}

}  // namespace attend
