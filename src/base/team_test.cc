#include "base/team.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace attend {
namespace {

TEST(TeamTest, EveryPartOfEveryJobIsDoneOnceWhoeverServes) {
  for (const int servers : {0, 1, 3}) {
    Team team(servers + 1);
    std::vector<std::thread> threads;
    for (int i = 0; i < servers; ++i) threads.emplace_back([&] { team.Serve(); });
    std::vector<int64_t> sums(7);
    for (int64_t job = 0; job < 3000; ++job) {
      const int64_t parts = job % 8;
      team.Run(parts, [&](int64_t part) { sums[part] += job; });  // seen by the next job
      if (job % 1000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // they sleep
    }
    team.Dismiss();
    for (std::thread& thread : threads) thread.join();
    for (int64_t part = 0; part < 7; ++part) {
      int64_t want = 0;
      for (int64_t job = 0; job < 3000; ++job) want += job % 8 > part ? job : 0;
      EXPECT_EQ(sums[part], want) << servers;
    }
  }
}

TEST(TeamTest, WhoServesADismissedTeamReturnsAtOnce) {
  Team team(2);
  team.Dismiss();
  team.Serve();
}

}  // namespace
}  // namespace attend
