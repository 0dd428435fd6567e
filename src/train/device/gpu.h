// What is known of GPUs by their names. No Torch here.
#ifndef ATTEND_TRAIN_DEVICE_GPU_H_
#define ATTEND_TRAIN_DEVICE_GPU_H_

#include <filesystem>
#include <string>

namespace attend {

// The machine's GPUs as NVIDIA's driver names them under `folder`, e.g. "NVIDIA H200"; "" where
// there is none, or more than one kind.
std::string GpuName(const std::filesystem::path& folder = "/proc/driver/nvidia/gpus");

// Floating-point operations a second that a GPU of this name could do at most in matrix products of
// bf16, none of its numbers left out (no sparsity), by its data sheet; 0: not known.
double Bf16Peak(const std::string& gpu_name);

}  // namespace attend

#endif  // ATTEND_TRAIN_DEVICE_GPU_H_
