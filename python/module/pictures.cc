#include "python/module/pictures.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include "base/files.h"
#include "media/picture_codec.h"

namespace attend {
namespace nb = nanobind;
namespace {

// The bytes of a picture's file, or of the file at a path, which becomes its name.
std::string FileOf(const nb::handle& picture, std::string* name) {
  if (PyBytes_Check(picture.ptr())) {
    const nb::bytes bytes = nb::borrow<nb::bytes>(picture);
    return {bytes.c_str(), bytes.size()};
  }
  const nb::object path = nb::module_::import_("os").attr("fsdecode")(picture);
  *name = nb::cast<std::string>(path);
  return ReadFile(*name, PictureLimits().max_bytes);
}

}  // namespace

GivenPictures PicturesOf(const nb::iterable& pictures) {
  GivenPictures given;
  for (const nb::handle picture : pictures) {
    given.names.push_back(fmt::format("picture {}", given.names.size() + 1));
    given.files.push_back(FileOf(picture, &given.names.back()));
  }
  return given;
}

}  // namespace attend
