// A store in memory stands for the network. That ranks which die are noticed, and named, is tested
// with processes in tests/train/data_parallel_test.py.
#include "train/rank_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

namespace attend {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

// Answers nobody while its cable is out.
class Store : public c10d::HashStore {
 public:
  using HashStore::compareSet;

  void Plug(bool in) {
    {
      const std::lock_guard lock(mutex_);
      in_ = in;
    }
    changed_.notify_all();
  }
  int64_t add(const std::string& key, int64_t value) override {
    Wait();
    return HashStore::add(key, value);
  }
  std::vector<uint8_t> compareSet(const std::string& key, const std::vector<uint8_t>& expected,
                                  const std::vector<uint8_t>& desired) override {
    Wait();
    return HashStore::compareSet(key, expected, desired);
  }

 private:
  void Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return in_; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool in_ = true;
};

World Place(int64_t rank) {
  World world;
  world.rank = rank;
  world.size = 2;
  world.address = "10.0.0.1";
  world.port = 29500;
  return world;
}

TEST(RankWatchTest, WhyOneRankFailedIsEveryonesVerdict) {
  const auto store = c10::make_intrusive<Store>();
  RankWatch first(store, Place(0), {}), second(store, Place(1), {});
  EXPECT_EQ(first.verdict(), "");
  second.Tell("rank 1 failed: the disk is full");
  first.Tell("rank 0 failed: later");  // waits until the other has heard
  EXPECT_EQ(first.VerdictAfter("a connection broke"), "rank 1 failed: the disk is full");
  EXPECT_EQ(second.VerdictAfter("a connection broke"), "rank 1 failed: the disk is full");
}

TEST(RankWatchTest, AStopDuringSetUpIsToldToTheOthers) {
  const auto store = c10::make_intrusive<Store>();
  std::promise<void> stopped;
  const ProcessGroup::Ends ends{.stop_requested = [] { return true; },
                                .stop = [&] { stopped.set_value(); }};
  RankWatch first(store, Place(0), {}), second(store, Place(1), ends);
  EXPECT_EQ(stopped.get_future().wait_for(seconds(10)), std::future_status::ready);
  EXPECT_THAT(first.VerdictAfter("a connection broke"), HasSubstr("rank 1 was stopped"));
}

// The verdict of a rank that cannot reach the others is its own, and comes although the thread that
// would tell it hangs in the network.
TEST(RankWatchTest, ARankThatEndsWhileTheNetworkHangsIsEndedWithinAMinute) {
  const auto store = c10::make_intrusive<Store>();
  std::promise<std::string> abandoned;
  RankWatch watch(store, Place(1),
                  {.abandon = [&](const std::string& why) { abandoned.set_value(why); }});
  store->Plug(false);
  watch.Ending();
  std::thread teller([&] { watch.Tell("rank 1 failed: of itself"); });
  std::future<std::string> why = abandoned.get_future();
  ASSERT_EQ(why.wait_for(seconds(60)), std::future_status::ready);
  EXPECT_THAT(why.get(), HasSubstr("rank 0 died: 10.0.0.1:29500 gave no answer for 30 s"));
  store->Plug(true);
  teller.join();
}

}  // namespace
}  // namespace attend
