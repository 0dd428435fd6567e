#include "train/device/device.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>
#include <torch/cuda.h>

#include "attend/error.h"
#include "train/device/environment.h"

namespace attend {
namespace {

[[noreturn]] void Refuse(const std::string& name, const std::string& why) {
  throw Error(ErrorKind::kConfiguration, fmt::format("device is '{}', {}", name, why));
}

}  // namespace

torch::Device DeviceOf(const std::string& name, const World& world) {
  if (name == "cpu") return {torch::kCPU};
  if (name == "cuda" && world.size > 1) {
    // A batch system may show each process its own GPU alone.
    const bool sees_one = torch::cuda::device_count() == 1;
    return DeviceOf(fmt::format("cuda:{}", sees_one ? 0 : world.local_rank), world);
  }
  if (name != "cuda" && !name.starts_with("cuda:")) Refuse(name, "expected cpu or cuda[:N]");
  if (!torch::cuda::is_available())
    Refuse(name, "but this LibTorch finds no CUDA device; use --device cpu");
  torch::Device device(torch::kCUDA);
  try {
    device = torch::Device(name);
  } catch (const c10::Error&) {
    Refuse(name, "expected cpu or cuda[:N]");
  }
  const auto count = static_cast<int>(torch::cuda::device_count());
  if (device.index() >= count)
    Refuse(name, fmt::format("but this process sees cuda:0 to cuda:{}; LOCAL_RANK or --device "
                             "cuda:N says which is its own",
                             count - 1));
  // What LibTorch and NCCL do without naming a device would open a context on the first GPU.
  if (device.has_index()) c10::impl::VirtualGuardImpl(device.type()).setDevice(device);
  return device;
}

void WarnOfPrecision(const OptimizationOptions& options, const torch::Device& device,
                     const Log& log) {
  if (options.Bf16Products() && device.is_cpu() && !HasBf16Instructions()) {
    log(LogLevel::kWarning,
        "precision is bf16, but training has no instructions for it here (AVX512_BF16, or Arm's "
        "BF16): it is no faster than with f32");
  }
  if (!options.Bf16Products() && !device.is_cpu()) {
    log(LogLevel::kWarning,
        "precision is f32, which leaves a GPU's tensor cores idle; --precision bf16 is several "
        "times faster");
  }
}

}  // namespace attend
