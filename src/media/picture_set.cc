#include "media/picture_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "attend/error.h"

namespace attend {
namespace {

// The last `from` of a file's name becomes `to`.
std::string Replaced(std::string path, std::string_view from, std::string_view to) {
  const size_t at = path.rfind(from);
  if (at != path.npos && path.find('/', at) == path.npos) path.replace(at, from.size(), to);
  return path;
}

bool EndsIn(const std::string& path, std::string_view ending) {
  return std::string_view(path)
      .substr(0, path.size() - (path.ends_with(".gz") ? 3 : 0))
      .ends_with(ending);
}

constexpr std::string_view kIdx = "idx3-ubyte", kCifar10 = ".bin", kTable = ".tsv";

}  // namespace

bool ArePictureSets(const std::vector<std::string>& paths) {
  return !paths.empty() && std::ranges::all_of(paths, [](const std::string& path) {
    return std::filesystem::is_directory(path) || EndsIn(path, kIdx) || EndsIn(path, kCifar10) ||
           EndsIn(path, kTable);
  });
}

std::unique_ptr<PictureSet> OpenPictures(const std::vector<std::string>& paths,
                                         const PictureSetOptions& options) {
  if (paths.empty()) throw Error(ErrorKind::kUsage, "no pictures were named");
  const auto all_end_in = [&](std::string_view ending) {
    return std::ranges::all_of(paths,
                               [&](const std::string& path) { return EndsIn(path, ending); });
  };
  for (const std::string& path : paths)
    if (!std::filesystem::exists(path))
      throw Error(ErrorKind::kInput,
                  fmt::format("can't open '{}': No such file or directory", path));
  if (paths.size() == 1 && std::filesystem::is_directory(paths[0]))
    return OpenPictureFolder(paths[0], options);
  if (paths.size() == 1 && EndsIn(paths[0], kIdx))
    return OpenIdx(paths[0], Replaced(Replaced(paths[0], "images", "labels"), "idx3", "idx1"),
                   options);
  if (all_end_in(kCifar10)) return OpenCifar10(paths, options);
  if (all_end_in(kTable)) return OpenPictureTables(paths, options);
  throw Error(ErrorKind::kInput,
              fmt::format("'{}'{} is no set of pictures: expected a folder with a sub-folder for "
                          "each label, .tsv files of paths and labels, .bin files of CIFAR-10, or "
                          "a file whose name ends in images-idx3-ubyte",
                          paths[0], paths.size() > 1 ? " and what follows it" : ""));
}

}  // namespace attend
