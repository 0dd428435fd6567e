#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "fuzz/harness.h"
#include "text/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  return ReadForeign(data, size, ErrorKind::kInput, [](std::string_view bytes) {
    const auto path = std::filesystem::temp_directory_path() /
                      ("attend_fuzz_lines_" + std::to_string(getpid()) +
                       (bytes.starts_with('\x28') ? ".zst" : ".gz"));  // as zstd's magic begins
    std::ofstream(path, std::ios::binary) << bytes;
    struct Remove {
      const std::filesystem::path& path;
      ~Remove() { std::filesystem::remove(path); }
    } remove{path};
    LineReader reader(path.string());
    std::string line;
    while (reader.Next(&line)) {
      if (line.find('\n') != std::string::npos || line.size() > kMaxLineBytes) std::abort();
    }
  });
}
