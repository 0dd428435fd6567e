#include "serve/worker.h"

#include <gtest/gtest.h>

#include <latch>
#include <memory>
#include <vector>

namespace attend {
namespace {

TEST(WorkerTest, WhatHasBegunGoesFirstAndRoomIsBounded) {
  std::vector<int> order;
  std::latch busy(1), release(1), done(1);
  Worker worker(2);
  ASSERT_TRUE(worker.TryBegin([&] {
    busy.count_down();
    release.wait();
  }));
  busy.wait();
  EXPECT_TRUE(worker.TryBegin([&] { order.push_back(3); }));
  EXPECT_TRUE(worker.TryBegin([&] {
    order.push_back(4);
    done.count_down();
  }));
  EXPECT_FALSE(worker.TryBegin([&] { order.push_back(5); }));
  worker.Continue([&] { order.push_back(1); });
  worker.Continue([&] { order.push_back(2); });
  release.count_down();
  done.wait();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4}));
}

TEST(WorkerTest, AStopDropsWhatWaits) {
  const auto held = std::make_shared<int>();
  std::latch busy(1), release(1);
  Worker worker(8);
  worker.Continue([&] {
    busy.count_down();
    release.wait();
  });
  busy.wait();
  bool ran = false;
  worker.TryBegin([&ran, held] { ran = true; });
  worker.Continue([&ran, held] { ran = true; });
  EXPECT_EQ(held.use_count(), 3);
  std::thread stopping([&] { worker.Stop(); });
  while (held.use_count() > 1) std::this_thread::yield();
  release.count_down();
  stopping.join();
  EXPECT_FALSE(ran);
  EXPECT_FALSE(worker.TryBegin([held] {}));
  worker.Continue([held] {});
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace attend
