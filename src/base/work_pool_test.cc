#include "base/work_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

#include "attend/error.h"

namespace attend {
namespace {

TEST(WorkPoolTest, EveryTaskOnceFromManyCallers) {
  WorkPool pool(3);
  std::vector<std::jthread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&pool] {
      for (int round = 0; round < 100; ++round) {
        std::vector<std::atomic<int>> seen(round);
        pool.ParallelFor(round, [&](int64_t task, int worker) {
          ASSERT_LT(worker, pool.size());
          ++seen[task];
        });
        for (const auto& count : seen) ASSERT_EQ(count, 1);
      }
    });
  }
}

TEST(WorkPoolTest, CallersDoNotWaitForEachOther) {
  WorkPool pool(2);
  std::latch short_is_done(1);
  std::jthread long_call([&] {
    const auto body = [&](int64_t, int) {
      if (short_is_done.try_wait()) throw std::runtime_error("enough");
      std::this_thread::yield();
    };
    EXPECT_THROW(pool.ParallelFor(int64_t{1} << 60, body), std::runtime_error);
  });
  pool.ParallelFor(10, [](int64_t, int) {});
  short_is_done.count_down();
}

TEST(WorkPoolTest, TheFirstErrorComesThrough) {
  WorkPool pool(2);
  std::atomic<int> run = 0;
  const auto body = [&](int64_t task, int) {
    if (task == 3) throw std::runtime_error("three");
    ++run;
  };
  EXPECT_THROW(pool.ParallelFor(1000000, body), std::runtime_error);
  EXPECT_LT(run, 1000000);
  EXPECT_NO_THROW(pool.ParallelFor(3, body));  // the threads live on
}

// Works with steps of different cost get equal time, and one that pauses claims none for it.
class Spinner : public PoolWork {
 public:
  explicit Spinner(std::chrono::microseconds step) : step_(step) {}
  bool Step(int) override {
    if (!active) return false;
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < step_) continue;
    used += step_.count();
    return true;
  }
  std::atomic<bool> active{true};
  std::atomic<int64_t> used{0};

 private:
  const std::chrono::microseconds step_;
};

TEST(WorkPoolTest, StepsOfAllWorksAreTaken) {
  WorkPool pool(1);
  Spinner small(std::chrono::microseconds(100)), large(std::chrono::microseconds(2000));
  pool.Add(&small);
  pool.Add(&large);
  while (large.used < 40000) std::this_thread::yield();
  EXPECT_GT(small.used, 10000);  // by turns it would be 2000
  small.active = false;
  while (large.used < 100000) std::this_thread::yield();
  small.active = true;
  const int64_t before = large.used;
  while (small.used < 60000) std::this_thread::yield();
  EXPECT_GT(large.used, before);
  pool.Remove(&small);
  pool.Remove(&large);
}

// A work of one step, two parts of which must run at once.
class Lone : public PoolWork {
 public:
  explicit Lone(WorkPool* pool) : pool_(pool) {}

  bool Step(int) override {
    if (begun_.exchange(true)) return false;
    const auto team = std::make_shared<Team>(2);
    SetTeam(team);
    pool_->CallForHelp();
    std::atomic<int> parts{0};
    team->Run(2, [&](int64_t) {
      ++parts;
      while (parts < 2) std::this_thread::yield();
    });
    SetTeam(nullptr);
    team->Dismiss();
    done.count_down();
    return true;
  }
  std::shared_ptr<Team> TeamToServe() override {
    const std::lock_guard lock(mutex_);
    return team_;
  }

  std::latch done{1};

 private:
  void SetTeam(std::shared_ptr<Team> team) {
    const std::lock_guard lock(mutex_);
    team_ = std::move(team);
  }

  WorkPool* pool_;
  std::atomic<bool> begun_{false};
  std::mutex mutex_;
  std::shared_ptr<Team> team_;
};

TEST(WorkPoolTest, ThreadsWithoutStepsServeTeams) {
  WorkPool pool(2);
  Lone lone(&pool);
  pool.Add(&lone);
  lone.done.wait();
  pool.Remove(&lone);
}

}  // namespace
}  // namespace attend
