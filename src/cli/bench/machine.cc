#include "cli/bench/machine.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "engine/kernels/peaks.h"

namespace attend {
namespace {

constexpr double kSeconds = 0.2;                      // for each rate
constexpr size_t kMemoryBytes = size_t{1} << 27;      // of each thread
constexpr size_t kSliceBytes = size_t{1} << 24;       // whose time is taken
constexpr int64_t kSliceRounds = 1 << 16;             // the same for a loop
using Slice = std::function<double(int64_t number)>;  // work number n; returns how much it was

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The best rate among slices of work: what others do on the machine slows some of them.
double BestRate(const Slice& slice) {
  double best = 0, last = Now();
  const double end = last + kSeconds;
  for (int64_t number = 0; last < end; ++number) {
    const double done = slice(number), now = Now();
    best = std::max(best, done / (now - last));
    last = now;
  }
  return best;
}

// The sum of the threads' rates, all running at once.
double Together(ThreadPool* pool, const std::function<Slice()>& make_slice) {
  std::vector<double> rates(pool->size());
  pool->ParallelFor(pool->size(), [&](int64_t task, int) { rates[task] = BestRate(make_slice()); });
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

Slice PeakSlice(PeakLoop loop) {
  return [loop, numbers = std::vector<int32_t>(64)](int64_t) mutable {
    return static_cast<double>(loop(kSliceRounds, numbers.data()));
  };
}

Slice ReadSlice() {
  constexpr size_t kWords = kSliceBytes / sizeof(uint64_t);
  return [memory = std::vector<uint64_t>(kMemoryBytes / sizeof(uint64_t), 1),
          sums = std::vector<uint64_t>(4)](int64_t number) mutable {
    const uint64_t* words = memory.data() + number * kWords % memory.size();
    for (size_t i = 0; i < kWords; i += 4) {
      for (size_t j = 0; j < 4; ++j) sums[j] += words[i + j];
    }
    return static_cast<double>(kSliceBytes);
  };
}

}  // namespace

MachineRates MeasureMachine(const std::string& instruction_set, int threads) {
  ThreadPool pool(threads);
  const PeakLoops loops = PeaksOf(instruction_set.c_str());
  return {Together(&pool, [&] { return PeakSlice(loops.f32); }),
          Together(&pool, [&] { return PeakSlice(loops.int8); }), Together(&pool, ReadSlice)};
}

void ForgetPeakResidentBytes() {
  // See proc(5): 5 sets the peak to what is resident now.
  std::ofstream("/proc/self/clear_refs") << 5;
}

double PeakResidentBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kibibytes = 0;
    if (word == "VmHWM:" && status >> kibibytes) return 1024 * kibibytes;
  }
  return 0;
}

}  // namespace attend
