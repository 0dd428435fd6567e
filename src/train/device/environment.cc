#include "train/device/environment.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

#include "attend/nn/torch.h"
#include "kernels/inference/dispatch.h"
#include "kernels/training/dispatch.h"
#include "train/device/gpu.h"

namespace attend {
namespace {

// What the first of these members of the first processor says, or "".
std::string CpuInfo(std::initializer_list<std::string_view> members) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    for (const std::string_view member : members) {
      if (line.starts_with(member) && colon != std::string::npos) return line.substr(colon + 2);
    }
  }
  return "";
}

std::string ProcessorName() {
  const std::string name = CpuInfo({"model name"});
  return name.empty() ? "unknown" : name;
}

}  // namespace

void SetUpEnvironment() {
  setenv("MKL_DYNAMIC", "false", /*overwrite=*/1);
  // Without it a GPU's matrix products are not deterministic, and LibTorch refuses them.
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  // 0, no handling: otherwise a thread of ProcessGroupNCCL's, where it meets the death of another
  // rank first, aborts the process before RankWatch has said whose it was. The second name is an
  // older one, which a user may have set.
  if (std::getenv("NCCL_ASYNC_ERROR_HANDLING") == nullptr)
    setenv("TORCH_NCCL_ASYNC_ERROR_HANDLING", "0", /*overwrite=*/0);
}

void SetUpTorch(int threads) {
  at::set_num_threads(threads);
  if (at::get_num_interop_threads() != 1) at::set_num_interop_threads(1);
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  // Memory that is about to be written need not be filled first.
  at::globalContext().setDeterministicFillUninitializedMemory(false);
  // MKL's vector functions look for their processor at the first call, and note it in two writes
  // without a lock (mkl_vml_serv_cpu_detect). A thread that reads between them takes a function of
  // fewer right digits. So the first call is made here, while there is one thread.
  at::ones({1}).exp();
}

void ParallelForTorch(ThreadPool* pool, int64_t tasks,
                      const std::function<void(int64_t task)>& body) {
  pool->ParallelFor(tasks, [&](int64_t task, int) {
    at::init_num_threads();
    body(task);
  });
}

bool HasBf16Instructions() {
  const nn::TrainKernels<float>& kernels = nn::SelectTrainKernels<float>();
  if (kernels.bf16_product != nullptr) return kernels.bf16_instructions;
  std::istringstream features(CpuInfo({"flags", "Features"}));  // as x86-64 and aarch64 say it
  for (std::string feature; features >> feature;) {
    if (feature == "avx512_bf16" || feature == "amx_bf16" || feature == "bf16") return true;
  }
  return false;
}

std::string TorchVersion() { return TORCH_VERSION; }

Json DescribeEnvironment(const std::string& device, int threads) {
  Json environment = Json::object();
  environment["processor"] = ProcessorName();
  environment["instruction_set"] = at::get_cpu_capability();
  environment["engine_instruction_set"] = SelectKernels().name;  // validation's scores
  environment["kernels"] = nn::SelectTrainKernels<float>().name;
  environment["libtorch"] = TorchVersion();
  environment["threads"] = threads;
  environment["device"] = device;
  if (device != "cpu") environment["gpu"] = GpuName();
  return environment;
}

std::vector<std::string> CompareEnvironments(const Json& before, const Json& now) {
  std::vector<std::string> differences;
  for (const auto& [name, value] : now.items()) {
    const Json old = before.value(name, Json());
    if (old != value)
      differences.push_back(fmt::format("{} was {}, now {}", name, old.dump(), value.dump()));
  }
  return differences;
}

}  // namespace attend
