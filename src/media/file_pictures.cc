// Pictures in files of their own: folders of classes, and tables of paths.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "attend/error.h"
#include "base/excerpt.h"
#include "base/files.h"
#include "media/picture_set.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxTableBytes = size_t{1} << 31;

// A picture's file and its label, as found.
struct FoundPicture {
  std::string path, label;
  std::string where;  // names the place in messages of labels
};

class FilePictures : public PictureSet {
 public:
  FilePictures(std::vector<std::string> paths, std::vector<int64_t> labels,
               const PictureSetOptions& options, std::vector<std::string> label_names)
      : PictureSet(std::move(label_names)),
        paths_(std::move(paths)),
        labels_(std::move(labels)),
        channels_(options.channels),
        limits_(options.limits) {}

  int64_t size() const override { return std::ssize(paths_); }
  int64_t label(int64_t i) const override { return labels_[i]; }
  Picture Get(int64_t i) const override { return ReadPicture(paths_[i], channels_, limits_); }
  std::string name(int64_t i) const override { return paths_[i]; }

 private:
  std::vector<std::string> paths_;
  std::vector<int64_t> labels_;
  int64_t channels_;
  PictureLimits limits_;
};

std::unique_ptr<PictureSet> MakeSet(std::vector<FoundPicture> found,
                                    const PictureSetOptions& options) {
  std::vector<std::string> names = options.label_names;
  if (names.empty()) {
    std::set<std::string> labels;
    for (const FoundPicture& each : found) labels.insert(each.label);
    names.assign(labels.begin(), labels.end());
  }
  std::map<std::string, int64_t> numbers;
  for (const std::string& name : names) numbers.emplace(name, std::ssize(numbers));
  std::vector<std::string> paths;
  std::vector<int64_t> labels;
  for (FoundPicture& each : found) {
    const auto at = numbers.find(each.label);
    if (at == numbers.end()) {
      throw Error(
          ErrorKind::kInput,
          fmt::format("{}: the label '{}' is not one of the {} that are known, such as '{}'",
                      each.where, Excerpt(each.label), names.size(), names[0]));
    }
    labels.push_back(at->second);
    paths.push_back(std::move(each.path));
  }
  return std::make_unique<FilePictures>(std::move(paths), std::move(labels), options,
                                        std::move(names));
}

bool IsHidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

// All but hidden ones: a file that is no picture is told of when it is read. Sorted, so that the
// order does not depend on the file system.
std::vector<fs::path> FilesBelow(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (auto entry = fs::recursive_directory_iterator(folder);
       entry != fs::recursive_directory_iterator(); ++entry) {
    if (IsHidden(entry->path())) {
      entry.disable_recursion_pending();
    } else if (!entry->is_directory()) {
      paths.push_back(entry->path());
    }
  }
  std::ranges::sort(paths);
  return paths;
}

// Of each sub-folder of `folder`.
std::vector<FoundPicture> PicturesOfClasses(const fs::path& folder) {
  std::vector<fs::path> classes;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory() && !IsHidden(entry.path())) classes.push_back(entry.path());
  std::ranges::sort(classes);
  std::vector<FoundPicture> found;
  for (const fs::path& each : classes) {
    for (const fs::path& path : FilesBelow(each))
      found.push_back({path.string(), each.filename().string(), path.string()});
  }
  return found;
}

// Adds the picture of one line, if it has any.
void ReadTableLine(std::string_view line, const std::string& where, const fs::path& folder,
                   std::vector<FoundPicture>* found) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty()) return;
  const size_t tab = line.find('\t');
  if (tab == line.npos || tab == 0 || tab + 1 == line.size() ||
      line.find('\t', tab + 1) != line.npos || line.find('\0') != line.npos) {
    throw Error(ErrorKind::kInput,
                fmt::format("{}: '{}', expected a path, a tab and a label", where, Excerpt(line)));
  }
  found->push_back({(folder / line.substr(0, tab)).lexically_normal().string(),
                    std::string(line.substr(tab + 1)), where});
}

}  // namespace

std::unique_ptr<PictureSet> OpenPictureFolder(const std::string& folder,
                                              const PictureSetOptions& options) {
  std::vector<FoundPicture> found;
  try {
    found = PicturesOfClasses(folder);
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorKind::kInput,
                fmt::format("can't read '{}': {}", error.path1().string(), error.code().message()));
  }
  if (found.empty()) {
    throw Error(
        ErrorKind::kInput,
        fmt::format("'{}' has no pictures, expected a sub-folder for each label with PNG or JPEG "
                    "files; without labels, give the files themselves",
                    folder));
  }
  return MakeSet(std::move(found), options);
}

std::unique_ptr<PictureSet> OpenPictureTables(const std::vector<std::string>& tables,
                                              const PictureSetOptions& options) {
  std::vector<FoundPicture> found;
  for (const std::string& table : tables) {
    const std::string text = ReadFile(table, kMaxTableBytes);
    const fs::path folder = fs::path(table).parent_path();
    const size_t before = found.size();
    size_t number = 0;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      ReadTableLine(std::string_view(text).substr(begin, end - begin),
                    fmt::format("{}:{}", table, ++number), folder, &found);
      begin = end + 1;
    }
    if (found.size() == before) {
      throw Error(ErrorKind::kInput,
                  fmt::format("'{}' has no line, expected `path<TAB>label`", table));
    }
  }
  if (found.empty()) throw Error(ErrorKind::kUsage, "no table of pictures was named");
  return MakeSet(std::move(found), options);
}

}  // namespace attend
