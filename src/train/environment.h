// What training's bits depend on beside options and data, and how they are held still.
#ifndef ATTEND_TRAIN_ENVIRONMENT_H_
#define ATTEND_TRAIN_ENVIRONMENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace attend {

// Sets LibTorch's threads (one between operations) and turns deterministic algorithms on. Call
// once, before any computation.
void SetUpTorch(int threads);

std::string TorchVersion();

// Processor, instruction set, LibTorch version, threads and device: with all of them equal, so are
// the bits.
Json DescribeEnvironment(const std::string& device);

// "threads was 2, now 1" for each member that differs.
std::vector<std::string> CompareEnvironments(const Json& before, const Json& now);

}  // namespace attend

#endif  // ATTEND_TRAIN_ENVIRONMENT_H_
