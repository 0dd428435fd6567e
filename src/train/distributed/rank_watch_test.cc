// A store in memory stands for the network. That ranks which die are noticed, and named, is tested
// with processes in tests/train/data_parallel_test.py.
#include "train/distributed/rank_watch.h"

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
  first.Tell("rank 0 failed: the disk is full");  // waits until the other has heard
  EXPECT_EQ(second.verdict(), "rank 0 failed: the disk is full");
  second.Tell("rank 1 failed: later");
  EXPECT_EQ(first.VerdictAfter("a connection broke"), "rank 0 failed: the disk is full");
  EXPECT_EQ(second.VerdictAfter("a connection broke"), "rank 0 failed: the disk is full");
}

TEST(RankWatchTest, AStopDuringSetUpIsToldToTheOthers) {
  const auto store = c10::make_intrusive<Store>();
  std::promise<void> stopped;
  const ProcessGroup::Ends ends{.stop_requested = [] { return true; },
                                .hold_stop =
                                    [&](bool held) {
                                      if (!held) stopped.set_value();
                                    }};
  RankWatch first(store, Place(0), {}), second(store, Place(1), ends);
  EXPECT_EQ(stopped.get_future().wait_for(seconds(10)), std::future_status::ready);
  EXPECT_THAT(first.VerdictAfter("a connection broke"), HasSubstr("rank 1 was stopped"));
}

// A rank that ends while the network hangs is given longer than one that waits, and is ended with
// its own reason.
TEST(RankWatchTest, ARankThatCannotTellWhyItEndsIsEnded) {
  constexpr std::chrono::milliseconds kBeat{100};  // 30 without an answer, and 20 more
  const auto store = c10::make_intrusive<Store>();
  std::promise<std::string> abandoned;
  RankWatch watch(store, Place(1),
                  {.abandon = [&](const std::string& why) { abandoned.set_value(why); }}, kBeat);
  store->Plug(false);
  watch.Ending("the disk is full");
  std::thread teller([&] { watch.Tell("rank 1 failed: the disk is full"); });
  std::future<std::string> why = abandoned.get_future();
  EXPECT_EQ(why.wait_for(45 * kBeat), std::future_status::timeout);
  const bool ended = why.wait_for(seconds(60)) == std::future_status::ready;
  store->Plug(true);
  teller.join();
  ASSERT_TRUE(ended);
  EXPECT_EQ(why.get(),
            "the disk is full; it can't be told: rank 0 died: 10.0.0.1:29500 gave no answer for 3 "
            "s; give every rank its command again: training goes on from the last checkpoint");
}

}  // namespace
}  // namespace attend
