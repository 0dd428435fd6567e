// The program `attend-train`: the commands that need LibTorch. `attend train`,
// `attend export` and `attend bench train` start it.
#include "cli/command_line.h"
#include "cli/train_commands.h"
#include "train/environment.h"

#ifdef ATTEND_MIMALLOC
#include <mimalloc.h>
#endif

namespace {

// Memory in pages of 2 MiB: an update writes hundreds of megabytes of tensors anew.
void UseLargePages() {
#ifdef ATTEND_MIMALLOC
  mi_option_enable(mi_option_large_os_pages);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<attend::Command> commands = {
      {"bench", "measure the speed of training", attend::RunBenchTrain},
      {"train", "train a model", attend::RunTrain},
      {"export", "average checkpoints and write a model directory", attend::RunExport},
  };
  UseLargePages();
  return attend::RunProgram(commands, argc, argv, ", LibTorch " + attend::TorchVersion());
}
