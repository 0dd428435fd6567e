#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace attend {
namespace {

TEST(ThreadPoolTest, EveryTaskOnce) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (int round = 0; round < 200; ++round) {
      std::vector<std::atomic<int>> seen(round);
      pool.ParallelFor(round, [&](int64_t task, int worker) {
        ASSERT_LT(worker, threads);
        ++seen[task];
      });
      for (const auto& count : seen) ASSERT_EQ(count, 1);
    }
  }
}

TEST(ThreadPoolTest, ThrowsWhatABodyThrew) {
  ThreadPool pool(3);
  EXPECT_THROW(pool.ParallelFor(100,
                                [](int64_t task, int) {
                                  if (task == 50) throw std::runtime_error("x");
                                }),
               std::runtime_error);
  std::atomic<int> calls = 0;
  pool.ParallelFor(10, [&](int64_t, int) { ++calls; });
  EXPECT_EQ(calls, 10);
}

}  // namespace
}  // namespace attend
