// How much memory a process can have.
#ifndef ATTEND_BASE_MACHINE_MEMORY_H_
#define ATTEND_BASE_MACHINE_MEMORY_H_

#include <cstdint>
#include <filesystem>

namespace attend {

// Bytes of the machine's memory and swap, or what the control groups (version 1 or 2) of this
// process leave of them, as in a container; the largest number where neither is told. `root` is
// where /proc and /sys stand.
uint64_t MachineMemory(const std::filesystem::path& root = "/");

}  // namespace attend

#endif  // ATTEND_BASE_MACHINE_MEMORY_H_
