// The program `attend-train`: the commands that need LibTorch. `attend train`,
// `attend export` and `attend bench train` start it.
#include "cli/command_line.h"
#include "cli/train_commands.h"
#include "train/environment.h"

#ifdef ATTEND_MIMALLOC
#include <mimalloc.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#endif

namespace {

#ifdef ATTEND_MIMALLOC

// The number that a file holds, or `otherwise`.
rlim_t NumberIn(const std::filesystem::path& file, rlim_t otherwise) {
  std::ifstream stream(file);
  rlim_t number = 0;
  return stream >> number ? number : otherwise;
}

// The least bound of a control group and of those around it, whose file it is.
rlim_t BoundOfGroups(const std::string& root, std::filesystem::path group, const char* file) {
  rlim_t least = RLIM_INFINITY;
  for (;; group = group.parent_path()) {
    least = std::min(least, NumberIn(root + (group / file).string(), least));
    if (!group.has_relative_path()) return least;
  }
}

// What the control groups of this process, such as a container's, let it have.
rlim_t MemoryOfGroups() {
  std::ifstream groups("/proc/self/cgroup");
  rlim_t least = RLIM_INFINITY;
  for (std::string line; std::getline(groups, line);) {
    const size_t path = line.rfind(":/");
    if (path == std::string::npos) continue;
    const std::string group = line.substr(path + 1);
    if (line.starts_with("0::"))  // version 2
      least = std::min(least, BoundOfGroups("/sys/fs/cgroup", group, "memory.max"));
    if (line.substr(0, path).ends_with(":memory"))  // version 1
      least =
          std::min(least, BoundOfGroups("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
  }
  return least;
}

// Memory comes in pages of 2 MiB, as an update writes hundreds of megabytes of tensors anew; not
// where a machine reserves such pages, which mimalloc would take then. mimalloc takes more than
// there is without asking: the limit, of this process alone, makes a request beyond the machine's
// or the container's memory an error.
void SetUpMemory() {
  if (NumberIn("/proc/sys/vm/nr_hugepages", 0) == 0) mi_option_enable(mi_option_large_os_pages);
  struct sysinfo machine = {};
  struct rlimit limit = {};
  if (sysinfo(&machine) != 0 || getrlimit(RLIMIT_DATA, &limit) != 0) return;
  const rlim_t all = (machine.totalram + machine.totalswap) * machine.mem_unit;
  limit.rlim_cur = std::min({limit.rlim_cur, all, MemoryOfGroups()});
  setrlimit(RLIMIT_DATA, &limit);
}

#else

void SetUpMemory() {}

#endif

}  // namespace

int main(int argc, char** argv) {
  const std::vector<attend::Command> commands = {
      {"bench", "measure the speed of training", attend::RunBenchTrain},
      {"train", "train a model", attend::RunTrain},
      {"export", "average checkpoints and write a model directory", attend::RunExport},
  };
  SetUpMemory();
  return attend::RunProgram(commands, argc, argv, ", LibTorch " + attend::TorchVersion());
}
