#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "fuzz/harness.h"
#include "memory/memory_file.h"

// Translation memories: TMX, and tables.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  return ReadForeign(data, size, ErrorKind::kInput, [](std::string_view bytes) {
    const auto path =
        std::filesystem::temp_directory_path() / ("attend_fuzz_memory_" + std::to_string(getpid()) +
                                                  (bytes.starts_with('<') ? ".tmx" : ".tsv"));
    std::ofstream(path, std::ios::binary) << bytes;
    struct Remove {
      const std::filesystem::path& path;
      ~Remove() { std::filesystem::remove(path); }
    } remove{path};
    const auto memory = LoadMemory(path.string());
    for (const MemoryUnit& unit : memory->units()) {
      if ((unit.source + unit.target).find('\n') != std::string::npos) std::abort();
      const auto matches = memory->Find(unit.source, {.threshold = 100, .most = 1});
      if (matches.size() != 1 || matches[0].score != 100) std::abort();
    }
  });
}
