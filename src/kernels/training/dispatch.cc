#include "kernels/training/dispatch.h"

#include <string>

#include "kernels/inference/dispatch.h"

namespace attend::nn {
template <>
const TrainKernels<float>& SelectTrainKernels<float>() {
  static const TrainKernels<float>* const chosen = [] {
#if defined(__x86_64__)
    const std::string name = SelectKernels().name;
    if (name == "avx512_amx") return Avx512AmxTrainKernels();
    // Processors with products in bf16 have VNNI too; `avx512` is the set without either.
    if (name == "avx512_vnni" && __builtin_cpu_supports("avx512bf16"))
      return Avx512Bf16TrainKernels();
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
