// Pictures that Python gives: paths of PNG and JPEG files, or their bytes.
#ifndef ATTEND_PYTHON_MODULE_PICTURES_H_
#define ATTEND_PYTHON_MODULE_PICTURES_H_

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

namespace attend {

// As the signature of a method has them.
inline constexpr const char* kPicturesType =
    "collections.abc.Iterable[str | os.PathLike[str] | bytes]";

struct GivenPictures {
  std::vector<std::string> files;  // their bytes
  std::vector<std::string> names;  // for messages: the path, or "picture 1"
};

// Of an iterable of them. Throws Error(kRuntime) for a file that can't be read, and TypeError for a
// single picture and for what is none.
GivenPictures PicturesOf(nanobind::handle pictures);

}  // namespace attend

#endif  // ATTEND_PYTHON_MODULE_PICTURES_H_
