#include "base/machine_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

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

// The least bound of a control group and of those around it. `file` holds each one's, "max" for
// none.
uint64_t BoundOfGroups(const fs::path& hierarchy, fs::path group, const char* file) {
  uint64_t least = kUnknown;
  for (;; group = group.parent_path()) {
    std::ifstream bound(hierarchy / group / file);
    uint64_t bytes = 0;
    if (bound >> bytes) least = std::min(least, bytes);
    if (group.empty()) return least;
  }
}

}  // namespace

uint64_t MachineMemory(const fs::path& root) {
  uint64_t least = MemoryAndSwap(root);
  std::ifstream groups(root / "proc/self/cgroup");
  std::string number, controllers, path;  // "4:cpuset,memory:/a/b", of version 2 "0::/a/b"
  while (std::getline(groups, number, ':') && std::getline(groups, controllers, ':') &&
         std::getline(groups, path)) {
    const fs::path group = fs::path(path).relative_path();
    if (controllers.empty())
      least = std::min(least, BoundOfGroups(root / "sys/fs/cgroup", group, "memory.max"));
    if (("," + controllers + ",").find(",memory,") != std::string::npos) {
      const fs::path hierarchy = root / "sys/fs/cgroup/memory";
      least = std::min(least, BoundOfGroups(hierarchy, group, "memory.limit_in_bytes"));
    }
  }
  return least;
}

}  // namespace attend
