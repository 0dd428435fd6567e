#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "attend/error.h"

namespace attend {
namespace {

TEST(AvailableProcessorsTest, AreThoseTheProcessWasLeft) {
  const std::vector<int> all = AvailableProcessors();
  ASSERT_FALSE(all.empty());
  cpu_set_t before, last;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&last);
  CPU_SET(all.back(), &last);
  ASSERT_EQ(sched_setaffinity(0, sizeof last, &last), 0);
  EXPECT_EQ(AvailableProcessors(), std::vector<int>{all.back()});
  EXPECT_EQ(DefaultThreads(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(DefaultThreadsTest, FollowAContainersQuota) {
  const auto root = std::filesystem::path(testing::TempDir()) / "default_threads_test";
  std::filesystem::create_directories(root / "proc/self");
  std::filesystem::create_directories(root / "sys/fs/cgroup");
  std::ofstream(root / "proc/self/cgroup") << "0::/\n";
  const auto with_quota = [&](const char* quota) {
    std::ofstream(root / "sys/fs/cgroup/cpu.max") << quota;
    return DefaultThreads(root);
  };
  const int all = static_cast<int>(AvailableProcessors().size());
  EXPECT_EQ(with_quota("max 100000\n"), all);
  EXPECT_EQ(with_quota("100000000 100000\n"), all);
  EXPECT_EQ(with_quota("100000 100000\n"), 1);
  EXPECT_EQ(with_quota("10000 100000\n"), 1);
  EXPECT_EQ(with_quota("150000 100000\n"), std::min(all, 2));
  std::filesystem::remove_all(root);
}

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

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these reserve terabytes
TEST(ThreadPoolTest, ThreadsThatCannotStartAreAnError) {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit bound = before;  // addresses for some stacks, not for a thousand
  bound.rlim_cur = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE)) + (rlim_t{256} << 20);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &bound), 0);
  std::string message;
  try {
    ThreadPool pool(1000);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRuntime);
    message = error.what();
  }
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_NE(message.find("of 1000 threads"), std::string::npos) << message;
  EXPECT_NE(message.find("--threads"), std::string::npos) << message;
}
#endif

}  // namespace
}  // namespace attend
