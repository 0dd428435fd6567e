// What this machine can do at most, measured: what the speed of a model stands beside.
#ifndef ATTEND_CLI_BENCH_MACHINE_H_
#define ATTEND_CLI_BENCH_MACHINE_H_

#include <cstddef>
#include <string>

namespace attend {

// By all threads together.
struct MachineRates {
  double f32 = 0;     // multiplications and additions a second, by the instruction set's best loop
  double int8 = 0;    // the same over 8 bits with sums of 32
  double memory = 0;  // bytes a second read from memory that no cache holds
};

// Each rate is the best of several short intervals, in which all threads run.
MachineRates MeasureMachine(const std::string& instruction_set, int threads);

// Bytes that each thread goes through to measure the memory's rate: more than its share of any
// cache, not more than 1 GiB by up to 64 threads together.
size_t BytesReadByThread(int threads);

// Of a clock that only goes forward, from any beginning.
double SteadySeconds();

// The most memory that this process has had resident at once, in bytes; since the last
// ForgetPeakResidentBytes where Linux allows that.
double PeakResidentBytes();
void ForgetPeakResidentBytes();

}  // namespace attend

#endif  // ATTEND_CLI_BENCH_MACHINE_H_
