// Pictures that Python gives: paths of PNG and JPEG files, or their bytes.
#ifndef ATTEND_PYTHON_MODULE_PICTURES_H_
#define ATTEND_PYTHON_MODULE_PICTURES_H_

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <vector>

#include "python/module/paths.h"
#include "python/module/texts.h"
#include "python/module/windows.h"

namespace attend {

// As the signature of a method has them.
inline constexpr const char* kPicturesType =
    "collections.abc.Iterable[str | os.PathLike[str] | bytes]";

struct GivenPictures {
  std::vector<std::string> files;  // their bytes
  std::vector<std::string> names;  // for messages: the path, or "picture 1"
};

// The bytes of a picture's file, or of the file at a path, which becomes its name. Throws
// Error(kRuntime) for a file that can't be read, and TypeError for what is no picture.
std::string PictureOf(nanobind::handle picture, std::string* name);

// Bytes of pictures that a window holds, or one picture more.
inline constexpr int64_t kMostPictureBytes = int64_t{64} << 20;

// Calls run(pictures, windows) with one window after another of an iterable of pictures. Throws as
// PictureOf does, and TypeError for a single picture.
template <class Run>
void InPictureWindows(nanobind::handle pictures, const Run& run) {
  RefuseOnePath(pictures);
  const nanobind::object iterator = IteratorOf(pictures);
  Windows windows;
  size_t before = 0;
  for (bool more = true; more;) {
    GivenPictures given;
    int64_t bytes = 0;
    while (given.files.size() < windows.size() && bytes < kMostPictureBytes) {
      const nanobind::object next = NextOf(iterator);
      more = next.is_valid();
      if (!more) break;
      given.names.push_back("picture " + std::to_string(before + given.names.size() + 1));
      given.files.push_back(PictureOf(next, &given.names.back()));
      bytes += std::ssize(given.files.back());
    }
    before += given.files.size();
    if (!given.files.empty()) run(given, &windows);
  }
}

}  // namespace attend

#endif  // ATTEND_PYTHON_MODULE_PICTURES_H_
