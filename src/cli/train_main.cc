// The program `attend-train`: the commands that need LibTorch. The program attend starts it.
#include "cli/command_line.h"
#include "cli/train_commands.h"
#include "train/device/environment.h"

#ifdef ATTEND_MIMALLOC
#include <mimalloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>

#include "base/machine_memory.h"
#endif

namespace {

#ifdef ATTEND_MIMALLOC

// mimalloc would take pages that the machine's owner has set aside.
bool ReservesLargePages() {
  std::ifstream file("/proc/sys/vm/nr_hugepages");
  int64_t pages = 0;
  return file >> pages && pages > 0;
}

// Memory comes in pages of 2 MiB, as an update writes hundreds of megabytes of tensors anew, and is
// kept for the next one: the system fills with zeros what it is asked for again. mimalloc takes
// more than there is without asking: the limit, of this process alone, makes a request beyond the
// machine's or the container's memory an error.
void SetUpMemory() {
  if (!ReservesLargePages()) mi_option_enable(mi_option_large_os_pages);
#if MI_MALLOC_VERSION < 210
  mi_option_disable(mi_option_allow_decommit);
#else
  mi_option_set(mi_option_purge_delay, -1);
#endif
  struct rlimit limit = {};
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, attend::MachineMemory());
  setrlimit(RLIMIT_DATA, &limit);
}

#else

void SetUpMemory() {}

#endif

}  // namespace

int main(int argc, char** argv) {
  const std::vector<attend::Command> commands = {
      {"bench", "measure the speed of training", attend::RunBenchTrain},
      {"bench-layers", "measure layers of the paper's Table 1", attend::RunBenchLayers},
      {"train", "train a model", attend::RunTrain},
      {"translate", "translate text, line by line", attend::RunTranslateByTorch},
      {"score", "log-probability of given texts", attend::RunScoreByTorch},
      {"verify", "check a model's digests and replay its samples", attend::RunVerifyByTorch},
      {"export", "average checkpoints and write a model directory", attend::RunExportCheckpoints},
  };
  SetUpMemory();
  attend::SetUpEnvironment();
  return attend::RunProgram(commands, argc, argv, ", LibTorch " + attend::TorchVersion());
}
