// Chooses the instruction set at run time.
#ifndef ATTEND_KERNELS_INFERENCE_DISPATCH_H_
#define ATTEND_KERNELS_INFERENCE_DISPATCH_H_

#include <string>
#include <vector>

#include "kernels/inference/kernels.h"

namespace attend {

// Names of the instruction sets this machine can run, the plainest first: "reference", then of
// x86-64 "avx2", "avx512", "avx512_vnni", "avx512_amx", and of aarch64 "neon", "neon_dot".
std::vector<std::string> AvailableInstructionSets();

// The table for `name`; "" takes the environment's ATTEND_ISA, and where that is empty too the best
// the machine has. Throws Error(kConfiguration) for an unknown name or a set that the machine
// lacks.
const KernelTable& SelectKernels(const std::string& name = "");

}  // namespace attend

#endif  // ATTEND_KERNELS_INFERENCE_DISPATCH_H_
