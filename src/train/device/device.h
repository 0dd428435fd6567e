// The device that training runs on.
#ifndef ATTEND_TRAIN_DEVICE_DEVICE_H_
#define ATTEND_TRAIN_DEVICE_DEVICE_H_

#include <string>

#include "attend/nn/torch.h"
#include "base/log.h"
#include "train/distributed/world.h"
#include "train/train_options.h"

namespace attend {

// "cpu", or "cuda[:N]"; "cuda" of several processes is each one's own GPU of its machine, by its
// local rank or as the only one that it sees, and a GPU that is named is the calling thread's
// current one from then on. Throws Error(kConfiguration) for any other name and a GPU that is not
// there.
torch::Device DeviceOf(const std::string& name, const World& world);

// Warns of a precision that is slow on this device: bf16 is right on every CPU, and fast on some.
void WarnOfPrecision(const OptimizationOptions& options, const torch::Device& device,
                     const Log& log);

}  // namespace attend

#endif  // ATTEND_TRAIN_DEVICE_DEVICE_H_
