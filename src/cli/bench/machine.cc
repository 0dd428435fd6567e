#include "cli/bench/machine.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/peaks/peaks.h"

namespace attend {
namespace {

constexpr int kIntervals = 10;                        // for each rate, of which the best counts
constexpr double kSeconds = 0.02;                     // of each
constexpr size_t kSliceBytes = size_t{1} << 20;       // between looks at the clock
constexpr int64_t kSliceRounds = 1 << 16;             // the same for a loop
using Slice = std::function<double(int64_t number)>;  // work number n; returns how much it was

// What all threads do in one interval, over its length. It begins when the last thread is there and
// ends with the last slice.
double RateOfInterval(ThreadPool* pool, const std::vector<Slice>& slices) {
  double begin = 0;
  std::barrier start(pool->size(), [&]() noexcept { begin = SteadySeconds(); });
  std::vector<double> done(pool->size()), end(pool->size());
  // A thread that waits for the others takes no second task.
  pool->ParallelFor(pool->size(), [&](int64_t task, int) {
    start.arrive_and_wait();
    for (int64_t number = 0; end[task] < begin + kSeconds; ++number) {
      done[task] += slices[task](number);
      end[task] = SteadySeconds();
    }
  });
  return std::accumulate(done.begin(), done.end(), 0.0) /
         (*std::max_element(end.begin(), end.end()) - begin);
}

// The best counts: what others do on the machine slows some intervals.
double BestRate(ThreadPool* pool, const std::function<Slice()>& make_slice) {
  std::vector<Slice> slices(pool->size());
  pool->ParallelFor(pool->size(), [&](int64_t task, int) { slices[task] = make_slice(); });
  double best = 0;
  for (int i = 0; i < kIntervals; ++i) best = std::max(best, RateOfInterval(pool, slices));
  return best;
}

Slice PeakSlice(PeakLoop loop) {
  return [loop, numbers = std::vector<int32_t>(64)](int64_t) mutable {
    return static_cast<double>(loop(kSliceRounds, numbers.data()));
  };
}

Slice ReadSlice(size_t bytes) {
  constexpr size_t kWords = kSliceBytes / sizeof(uint64_t);
  return [memory = std::vector<uint64_t>(bytes / sizeof(uint64_t), 1),
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
  const size_t bytes = BytesReadByThread(threads);
  return {BestRate(&pool, [&] { return PeakSlice(loops.f32); }),
          BestRate(&pool, [&] { return PeakSlice(loops.int8); }),
          BestRate(&pool, [&] { return ReadSlice(bytes); })};
}

size_t BytesReadByThread(int threads) {
  constexpr size_t kTotal = size_t{1} << 30, kLeast = size_t{1} << 24, kMost = size_t{1} << 27;
  return std::clamp(kTotal / static_cast<size_t>(threads) / kSliceBytes * kSliceBytes, kLeast,
                    kMost);
}

double SteadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
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
