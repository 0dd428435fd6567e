// IDX and CIFAR-10: sets of equal pictures in few files.
#include <fmt/format.h>

#include <algorithm>

#include "attend/error.h"
#include "base/counted.h"
#include "media/binary_file.h"
#include "media/picture_set.h"

namespace attend {
namespace {

constexpr uint32_t kIdxPictures = 0x00000803, kIdxLabels = 0x00000801;
constexpr int64_t kCifarSide = 32, kCifarPixels = kCifarSide * kCifarSide;
constexpr int64_t kCifarRecord = 1 + 3 * kCifarPixels, kCifarClasses = 10;
// Of one file, which has no header. CIFAR-10's have 10,000.
constexpr size_t kMostCifarRecords = 100000;

[[noreturn]] void RefuseFile(const std::string& file, const std::string& why) {
  throw Error(ErrorKind::kInput, fmt::format("'{}' {}", file, why));
}

// A big-endian number of a header.
uint32_t HeaderNumber(std::string_view bytes, size_t index, const std::string& file) {
  if (bytes.size() < 4 * (index + 1)) {
    RefuseFile(file,
               fmt::format("has {}, expected an IDX header", Counted(std::ssize(bytes), "byte")));
  }
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<uint8_t>(bytes[4 * index + i]);
  return number;
}

void CheckMagic(std::string_view bytes, uint32_t expected, const char* what,
                const std::string& file) {
  const uint32_t magic = HeaderNumber(bytes, 0, file);
  if (magic == expected) return;
  RefuseFile(file, fmt::format("begins with the number {}, expected {}, an IDX file of {}", magic,
                               expected, what));
}

struct IdxHeader {
  static constexpr size_t kBytes = 16;
  int64_t count = 0, height = 0, width = 0;

  int64_t file_bytes() const { return kBytes + count * height * width; }
};

IdxHeader ReadIdxHeader(std::string_view bytes, const PictureLimits& limits,
                        const std::string& file) {
  CheckMagic(bytes, kIdxPictures, "pictures", file);
  const IdxHeader header{HeaderNumber(bytes, 1, file), HeaderNumber(bytes, 2, file),
                         HeaderNumber(bytes, 3, file)};
  CheckPictureSize(header.width, header.height, limits, file);
  return header;
}

// Of `classes` that a file numbers.
std::vector<std::string> ClassNames(const std::vector<std::string>& names, int64_t classes,
                                    const std::string& file) {
  if (names.empty()) {
    std::vector<std::string> numbers;
    for (int64_t label = 0; label < classes; ++label) numbers.push_back(std::to_string(label));
    return numbers;
  }
  if (std::ssize(names) < classes) {
    RefuseFile(file, fmt::format("has the label {}, expected one of {} ({} and so on)", classes - 1,
                                 Counted(std::ssize(names), "label"), names[0]));
  }
  return names;
}

class IdxPictures : public PictureSet {
 public:
  struct Files {
    std::unique_ptr<BinaryFile> pictures, labels;  // no labels: all are 0
    std::string name;
    int64_t count = 0, width = 0, height = 0;
  };
  IdxPictures(Files files, int64_t channels, std::vector<std::string> label_names)
      : PictureSet(std::move(label_names)), files_(std::move(files)), channels_(channels) {}

  int64_t size() const override { return files_.count; }
  int64_t label(int64_t i) const override {
    return files_.labels == nullptr ? 0 : static_cast<uint8_t>(files_.labels->bytes()[8 + i]);
  }
  Picture Get(int64_t i) const override {
    Picture picture(files_.width, files_.height, 1);
    const int64_t bytes = files_.width * files_.height;
    std::ranges::copy(files_.pictures->bytes().substr(16 + i * bytes, bytes),
                      picture.pixels.begin());
    return ToChannels(picture, channels_);
  }
  std::string name(int64_t i) const override {
    return fmt::format("{}, picture {}", files_.name, i);
  }

 private:
  Files files_;
  int64_t channels_;
};

class CifarPictures : public PictureSet {
 public:
  struct File {
    std::unique_ptr<BinaryFile> file;
    std::string name;
    int64_t first = 0;  // the number of its first picture
  };
  CifarPictures(std::vector<File> files, int64_t size, int64_t channels,
                std::vector<std::string> label_names)
      : PictureSet(std::move(label_names)),
        files_(std::move(files)),
        size_(size),
        channels_(channels) {}

  int64_t size() const override { return size_; }
  int64_t label(int64_t i) const override { return static_cast<uint8_t>(Record(i)[0]); }
  Picture Get(int64_t i) const override {
    const std::string_view record = Record(i);
    Picture picture(kCifarSide, kCifarSide, 3);
    for (int64_t p = 0; p < kCifarPixels; ++p) {
      for (int64_t c = 0; c < 3; ++c)
        picture.pixels[3 * p + c] = static_cast<uint8_t>(record[1 + c * kCifarPixels + p]);
    }
    return ToChannels(picture, channels_);
  }
  std::string name(int64_t i) const override {
    const File& file = FileOf(i);
    return fmt::format("{}, picture {}", file.name, i - file.first);
  }

 private:
  const File& FileOf(int64_t i) const {
    return *std::prev(std::ranges::upper_bound(files_, i, {}, &File::first));
  }
  std::string_view Record(int64_t i) const {
    const File& file = FileOf(i);
    return file.file->bytes().substr((i - file.first) * kCifarRecord, kCifarRecord);
  }

  std::vector<File> files_;
  int64_t size_, channels_;
};

}  // namespace

std::unique_ptr<PictureSet> OpenIdx(const std::string& pictures, const std::string& labels,
                                    const PictureSetOptions& options) {
  IdxHeader header;
  const auto read_header = [&](std::string_view bytes) {
    header = ReadIdxHeader(bytes, options.limits, pictures);
    return static_cast<size_t>(header.file_bytes());
  };
  IdxPictures::Files files{OpenBinaryFile(pictures, {IdxHeader::kBytes, read_header}),
                           nullptr,
                           pictures,
                           header.count,
                           header.width,
                           header.height};
  const std::string_view bytes = files.pictures->bytes();
  if (std::ssize(bytes) != header.file_bytes()) {
    RefuseFile(pictures, fmt::format("has {} bytes, expected {} for its {} of {} x {}",
                                     bytes.size(), header.file_bytes(),
                                     Counted(files.count, "picture"), files.width, files.height));
  }
  if (files.count == 0) RefuseFile(pictures, "has no picture");
  int64_t classes = 1;
  if (!labels.empty()) {
    int64_t count = 0;
    files.labels = OpenBinaryFile(labels, {8, [&](std::string_view start) -> size_t {
                                             CheckMagic(start, kIdxLabels, "labels", labels);
                                             count = HeaderNumber(start, 1, labels);
                                             return 8 + count;
                                           }});
    const std::string_view label_bytes = files.labels->bytes();
    if (std::ssize(label_bytes) != 8 + count) {
      RefuseFile(labels, fmt::format("has {} bytes, expected {} for its {}", label_bytes.size(),
                                     8 + count, Counted(count, "label")));
    }
    if (count != files.count) {
      RefuseFile(labels, fmt::format("has {}, expected {} as '{}' has pictures",
                                     Counted(count, "label"), files.count, pictures));
    }
    for (const char label : label_bytes.substr(8))
      classes = std::max<int64_t>(classes, 1 + static_cast<uint8_t>(label));
  }
  std::vector<std::string> names = ClassNames(options.label_names, classes, labels);
  return std::make_unique<IdxPictures>(std::move(files), options.channels, std::move(names));
}

std::unique_ptr<PictureSet> OpenCifar10(const std::vector<std::string>& paths,
                                        const PictureSetOptions& options) {
  std::vector<CifarPictures::File> files;
  int64_t size = 0;
  const auto most = [](std::string_view /*header*/) { return kMostCifarRecords * kCifarRecord; };
  for (const std::string& path : paths) {
    files.push_back({OpenBinaryFile(path, {0, most}), path, size});
    const std::string_view bytes = files.back().file->bytes();
    if (bytes.empty() || bytes.size() % kCifarRecord != 0) {
      RefuseFile(path, fmt::format("has {}, expected a multiple of {}, the records of CIFAR-10",
                                   Counted(std::ssize(bytes), "byte"), kCifarRecord));
    }
    const int64_t records = std::ssize(bytes) / kCifarRecord;
    for (int64_t i = 0; i < records; ++i) {
      const auto label = static_cast<uint8_t>(bytes[i * kCifarRecord]);
      if (label >= kCifarClasses)
        RefuseFile(path, fmt::format("has the label {} in record {}, expected 0 to {}", label, i,
                                     kCifarClasses - 1));
    }
    size += records;
  }
  if (files.empty()) throw Error(ErrorKind::kUsage, "no file of pictures was named");
  std::vector<std::string> names = ClassNames(options.label_names, kCifarClasses, paths[0]);
  return std::make_unique<CifarPictures>(std::move(files), size, options.channels,
                                         std::move(names));
}

}  // namespace attend
