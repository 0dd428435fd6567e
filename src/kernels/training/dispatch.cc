#include "kernels/training/dispatch.h"

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <string>

#include "kernels/inference/dispatch.h"

namespace attend::nn {
namespace {

#if defined(__x86_64__)
// Whether the processor has AMX's tiles of bf16 and the system lets this process use them.
bool HasTiles() {
#if defined(__linux__)
  constexpr int64_t kRequestPermission = 0x1023, kTileData = 18;  // of arch_prctl
  return __builtin_cpu_supports("amx-bf16") &&
         syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}
#endif

}  // namespace

template <>
const TrainKernels<float>& SelectTrainKernels<float>() {
  static const TrainKernels<float>* const chosen = [] {
#if defined(__x86_64__)
    const std::string name = SelectKernels().name;
    // Processors with products in bf16 have VNNI too; `avx512` is the set without either.
    if (name == "avx512_vnni" && __builtin_cpu_supports("avx512bf16"))
      return HasTiles() ? AmxBf16TrainKernels() : Avx512Bf16TrainKernels();
    if (name.starts_with("avx512")) return Avx512TrainKernels();
    if (name == "avx2") return Avx2TrainKernels();
#endif
    return PlainTrainKernels();
  }();
  return *chosen;
}

template <>
const TrainKernels<double>& SelectTrainKernels<double>() {
  return *PlainTrainKernelsF64();
}

}  // namespace attend::nn
