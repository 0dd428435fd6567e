#include "kernels/inference/dispatch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "attend/error.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace attend {
namespace {

#if defined(__x86_64__)
// Whether the processor has AMX's tiles, beside AVX-512 with VNNI and bf16, and the system lets
// this process use them.
bool HasTiles() {
#if defined(__linux__) && !defined(ATTEND_EMULATED_AVX512)
  // By CPUID, since Clang 16 does not know their names.
  constexpr uint32_t kAmxBf16 = 1U << 22, kAmxInt8 = 1U << 25, kAmx = kAmxBf16 | kAmxInt8;
  const auto has_amx = [] {
    uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & kAmx) == kAmx;
  };
  constexpr int64_t kRequestPermission = 0x1023, kTileData = 18;  // of arch_prctl
  static const bool has = has_amx() && __builtin_cpu_supports("avx512vnni") &&
                          __builtin_cpu_supports("avx512bf16") &&
                          syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return has;
#else
  return false;
#endif
}

const KernelTable* TileKernels() {
#if defined(ATTEND_EMULATED_AVX512)
  return nullptr;
#else
  return Avx512AmxKernels();
#endif
}
#endif

#if defined(__aarch64__)
bool HasDotProducts() {
#if defined(__linux__)
  return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#else
  return false;
#endif
}
#endif

struct InstructionSet {
  const char* name;
  bool available;
  const KernelTable* kernels;
};

std::vector<InstructionSet> InstructionSets() {
#if defined(__x86_64__)
  // These ask the operating system too: whether it saves the wide registers.
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#if defined(ATTEND_EMULATED_AVX512)  // tests on machines without it
  const bool avx512 = avx2, vnni = avx2;
#else
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  const bool vnni = avx512 && __builtin_cpu_supports("avx512vnni");
#endif
  return {{"reference", true, ReferenceKernels()},
          {"avx2", avx2, Avx2Kernels()},
          {"avx512", avx512, Avx512Kernels()},
          {"avx512_vnni", vnni, Avx512VnniKernels()},
          {"avx512_amx", vnni && HasTiles(), TileKernels()},
          {"neon", false, nullptr},
          {"neon_dot", false, nullptr}};
#else
#if defined(__aarch64__)
  const bool neon = true, dot = HasDotProducts();
  const KernelTable* const neon_kernels = NeonKernels();
  const KernelTable* const dot_kernels = NeonDotKernels();
#else
  const bool neon = false, dot = false;
  const KernelTable *const neon_kernels = nullptr, *const dot_kernels = nullptr;
#endif
  return {{"reference", true, ReferenceKernels()},
          {"avx2", false, nullptr},
          {"avx512", false, nullptr},
          {"avx512_vnni", false, nullptr},
          {"avx512_amx", false, nullptr},
          {"neon", neon, neon_kernels},
          {"neon_dot", dot, dot_kernels}};
#endif
}

}  // namespace

std::vector<std::string> AvailableInstructionSets() {
  std::vector<std::string> names;
  for (const InstructionSet& set : InstructionSets()) {
    if (set.available) names.push_back(set.name);
  }
  return names;
}

const KernelTable& SelectKernels(const std::string& name) {
  std::string wanted = name;
  if (wanted.empty()) {
    const char* forced = std::getenv("ATTEND_ISA");
    if (forced != nullptr) wanted = forced;
  }
  const std::vector<InstructionSet> sets = InstructionSets();
  if (wanted.empty()) {
    const auto best = std::find_if(sets.rbegin(), sets.rend(),
                                   [](const InstructionSet& set) { return set.available; });
    return *best->kernels;
  }
  for (const InstructionSet& set : sets) {
    if (wanted == set.name && set.available) return *set.kernels;
  }
  const bool known = std::any_of(sets.begin(), sets.end(),
                                 [&](const InstructionSet& set) { return wanted == set.name; });
  throw Error(ErrorKind::kConfiguration,
              fmt::format("instruction set '{}' {}; expected one of {}{}", wanted,
                          known ? "is not on this machine" : "is unknown",
                          fmt::join(AvailableInstructionSets(), ", "),
                          name.empty() ? " (unset ATTEND_ISA for the best)" : ""));
}

}  // namespace attend
