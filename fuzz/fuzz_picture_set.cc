#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "fuzz/harness.h"
#include "media/picture_set.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

// A folder that goes with the process.
struct ForeignFolder {
  fs::path path = fs::temp_directory_path() / ("attend_fuzz_pictures_" + std::to_string(getpid()));
  ForeignFolder() { fs::create_directories(path); }
  ~ForeignFolder() { fs::remove_all(path); }
  std::string Write(const char* name, std::string_view bytes) const {
    std::ofstream(path / name, std::ios::binary) << bytes;
    return (path / name).string();
  }
};

void Look(const PictureSet& set, bool files) {
  for (int64_t i = 0; i < std::min<int64_t>(set.size(), 20); ++i) {
    if (set.label(i) < 0 || set.label(i) >= std::ssize(set.label_names())) std::abort();
    if (set.name(i).empty()) std::abort();
    if (!files) set.Get(i);  // a table's are not there
  }
}

// By what they begin with: IDX pictures, their labels, a gzip file of pictures; a table; else
// CIFAR-10's records.
void ReadForeignSet(std::string_view bytes) {
  constexpr std::string_view kPictures("\0\0\x08\x03\0\0\0\1\0\0\0\1\0\0\0\1x", 17);
  const PictureSetOptions options{.channels = 1, .limits = {.max_pixels = 1 << 16}};
  static const ForeignFolder folder;
  if (bytes.starts_with(kPictures.substr(0, 4))) {
    Look(*OpenIdx(folder.Write("pictures", bytes), "", options), false);
  } else if (bytes.starts_with(std::string_view("\0\0\x08\x01", 4))) {
    Look(*OpenIdx(folder.Write("pictures", kPictures), folder.Write("labels", bytes), options),
         false);
  } else if (bytes.starts_with("\x1f\x8b")) {
    Look(*OpenIdx(folder.Write("pictures.gz", bytes), "", options), false);
  } else if (bytes.find('\t') != bytes.npos && bytes.size() < 3073) {
    Look(*OpenPictures({folder.Write("table.tsv", bytes)}, options), true);
  } else {
    Look(*OpenPictures({folder.Write("set.bin", bytes)}, options), false);
  }
}

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  if (size > size_t{1} << 20) return 0;
  return ReadForeign(data, size, ErrorKind::kInput, ReadForeignSet);
}
