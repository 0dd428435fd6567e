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
#endif

namespace {

// Memory comes in pages of 2 MiB, as an update writes hundreds of megabytes of tensors anew.
// mimalloc takes more than the machine has without asking; the limit makes that an error in place
// of a killed process.
void SetUpMemory() {
#ifdef ATTEND_MIMALLOC
  mi_option_enable(mi_option_large_os_pages);
  struct sysinfo machine = {};
  struct rlimit limit = {};
  if (sysinfo(&machine) != 0 || getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur =
      std::min<rlim_t>(limit.rlim_cur, (machine.totalram + machine.totalswap) * machine.mem_unit);
  setrlimit(RLIMIT_DATA, &limit);
#endif
}

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
