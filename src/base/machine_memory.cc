#include "base/machine_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "base/control_groups.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kUnknown = std::numeric_limits<uint64_t>::max();

uint64_t MemoryAndSwap(const fs::path& root) {
  std::ifstream file(root / "proc/meminfo");
  uint64_t kib = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    uint64_t value = 0;
    words >> name >> value;
    if (name == "MemTotal:" || name == "SwapTotal:") kib += value;
  }
  return kib > 0 ? kib * 1024 : kUnknown;
}

uint64_t BoundIn(const fs::path& file) {
  std::ifstream bound(file);  // "max" for none
  uint64_t bytes = 0;
  return bound >> bytes ? bytes : kUnknown;
}

}  // namespace

uint64_t MachineMemory(const fs::path& root) {
  uint64_t least = MemoryAndSwap(root);
  ForEachControlGroup("memory", root, [&](const fs::path& directory, int version) {
    const char* file = version == 2 ? "memory.max" : "memory.limit_in_bytes";
    least = std::min(least, BoundIn(directory / file));
  });
  return least;
}

}  // namespace attend
