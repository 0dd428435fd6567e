// The place of this process among those that train one model together: torchrun's variables of the
// environment, or the same ones set by hand, or srun's, and what the processes learn when they
// meet.
#ifndef ATTEND_TRAIN_DISTRIBUTED_WORLD_H_
#define ATTEND_TRAIN_DISTRIBUTED_WORLD_H_

#include <cstdint>
#include <functional>
#include <string>

namespace attend {

// Plain values; the defaults are those of a process alone.
struct World {
  int64_t rank = 0, size = 1;  // RANK, WORLD_SIZE
  int64_t local_rank = 0;      // LOCAL_RANK, of this machine's; -1: not told
  int64_t sharers = 1;         // ranks with the same processors, this one too; known once they met
  std::string address;         // MASTER_ADDR: where ranks meet
  int64_t port = 0;            // MASTER_PORT
  std::string interface;       // GLOO_SOCKET_IFNAME; empty: the one that leads to `address`
  bool store_stands = false;   // torchrun holds the meeting place; else rank 0 does
  std::string attempt;         // TORCHELASTIC_RESTART_COUNT
};

// `variable` gives a variable of the environment, or null. Throws Error(kConfiguration) for
// variables that are no numbers, contradict each other or are missing. Without RANK and WORLD_SIZE,
// SLURM_STEP_NUM_TASKS, SLURM_PROCID and SLURM_LOCALID are read; ranks then meet at MASTER_ADDR and
// MASTER_PORT where these are set, else at the first host of SLURM_STEP_NODELIST and a port that
// SLURM_JOB_ID and SLURM_STEP_ID determine.
World WorldFromEnvironment(const std::function<const char*(const char* name)>& variable);

// Of as many threads as there are processors, those of each rank that has these; at least 1.
int ShareOfThreads(int threads, const World& world);

}  // namespace attend

#endif  // ATTEND_TRAIN_DISTRIBUTED_WORLD_H_
