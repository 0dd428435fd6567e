// What training's bits depend on beside options and data, and how they are held still.
#ifndef ATTEND_TRAIN_DEVICE_ENVIRONMENT_H_
#define ATTEND_TRAIN_DEVICE_ENVIRONMENT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/thread_pool.h"

namespace attend {

// Sets the variables of the environment that LibTorch's libraries read, some of them unless the
// user has. Call at the start of a program: none of its other threads may read a variable
// meanwhile.
void SetUpEnvironment();

// Sets LibTorch's own threads (one between operations) and turns deterministic algorithms on. Call
// once, before any computation.
void SetUpTorch(int threads);

// ThreadPool::ParallelFor for bodies that use LibTorch: its own threads are set in each of the
// pool's as they are in the caller's.
void ParallelForTorch(ThreadPool* pool, int64_t tasks,
                      const std::function<void(int64_t task)>& body);

// Products in bf16 take instructions for them (AVX512_BF16; of LibTorch's products AMX or Arm's
// BF16 too); others convert every number.
bool HasBf16Instructions();

std::string TorchVersion();

// Processor, instruction set, LibTorch version, threads and device: with all of them equal, so are
// the bits of one version of this program.
Json DescribeEnvironment(const std::string& device, int threads);

// "threads was 2, now 1" for each member that differs.
std::vector<std::string> CompareEnvironments(const Json& before, const Json& now);

}  // namespace attend

#endif  // ATTEND_TRAIN_DEVICE_ENVIRONMENT_H_
