// Ranks as threads of one process; real processes are in tests/train/data_parallel_test.py.
#include "train/distributed/process_group.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "attend/error.h"
#include "data/example_fixture.h"
#include "train/device/environment.h"
#include "train/distributed/gradient_reducer.h"
#include "train/distributed/ranks_agree.h"
#include "train/loop/learner.h"
#include "train/loop/loop_task.h"

namespace attend {
namespace {

int64_t FreePort() {
  const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(bind(descriptor, any, size), 0);
  EXPECT_EQ(getsockname(descriptor, any, &size), 0);
  close(descriptor);
  return ntohs(address.sin_port);
}

// Calls body(group) on a thread for each rank, and before(group) where it is not connected yet.
void OnEachRank(
    int64_t size, const std::function<void(ProcessGroup*)>& body,
    const std::function<void(ProcessGroup*)>& before = [](ProcessGroup*) {}) {
  const int64_t port = FreePort();
  std::vector<std::thread> ranks;
  for (int64_t rank = 0; rank < size; ++rank) {
    ranks.emplace_back([&, rank] {
      World world;
      world.rank = rank;
      world.size = size;
      world.local_rank = -1;
      world.address = "127.0.0.1";
      world.port = port;
      ProcessGroup group(world, {.abandon = [](const std::string& why) { FAIL() << why; }},
                         NoLog());
      group.Meet(NoLog());
      before(&group);
      group.Connect(torch::kCPU);
      body(&group);
      group.Leave();
    });
  }
  for (std::thread& rank : ranks) rank.join();
}

TEST(ProcessGroupTest, AloneEverythingStaysAsItIs) {
  ProcessGroup group;
  const torch::Tensor tensor = torch::ones({3});
  group.BeginSum(tensor)();
  group.BeginBroadcast(tensor, 0)();
  EXPECT_TRUE(tensor.equal(torch::ones({3})));
  EXPECT_EQ(group.Sum(2.5), 2.5);
  EXPECT_EQ(group.FromFirst("text"), "text");
  EXPECT_THAT(group.BeginGather("text")(), testing::ElementsAre("text"));
  group.Fail("nobody to tell");
  group.Leave();
}

TEST(ProcessGroupTest, RanksOfAMachineAreCounted) {
  OnEachRank(3, [](ProcessGroup* group) {
    EXPECT_EQ(group->world().local_rank, group->rank());
    EXPECT_EQ(group->world().sharers, 3);
  });
}

TEST(ProcessGroupTest, RanksAddUpAndTellEachOther) {
  OnEachRank(3, [](ProcessGroup* group) {
    const auto rank = static_cast<double>(group->rank());
    EXPECT_EQ(group->Sum(rank + 0.5), 4.5);
    EXPECT_EQ(group->FromFirst(group->first() ? std::string("a\0b", 3) : "else"),
              std::string("a\0b", 3));
    EXPECT_EQ(group->FromFirst(group->first() ? "" : "else"), "");
    const torch::Tensor sum = torch::full({1000}, rank);
    const ProcessGroup::Pending pending = group->BeginSum(sum);
    const torch::Tensor of_last = torch::full({5}, rank);
    group->BeginBroadcast(of_last, 2)();
    pending();
    EXPECT_TRUE(sum.equal(torch::full({1000}, 3.0)));
    EXPECT_TRUE(of_last.equal(torch::full({5}, 2.0)));
    const ProcessGroup::Gathered gathered = group->BeginGather(
        std::string(100 * group->rank(), static_cast<char>('a' + group->rank())));
    EXPECT_EQ(group->Sum(1), 3);
    std::thread([&] {
      EXPECT_THAT(gathered(),
                  testing::ElementsAre("", std::string(100, 'b'), std::string(200, 'c')));
    }).join();
    EXPECT_THAT(group->BeginGather("")(), testing::ElementsAre("", "", ""));
    const torch::Tensor sent = torch::full({7}, rank);
    if (group->rank() == 1) group->BeginSend(sent, 0)();
    if (group->first()) {
      group->BeginReceive(sent, 1)();
      EXPECT_TRUE(sent.equal(torch::ones({7})));
    }
  });
}

TEST(RanksAgreeTest, RanksOfOtherVersionsAreRefused) {
  OnEachRank(2, [](ProcessGroup* group) {
    RunIdentity identity;
    identity.options = identity.data_digests = Json::object();
    identity.environment = {{"threads", 1}, {"attend", group->first() ? "0.1.0 (a)" : "0.1.0 (b)"}};
    try {
      CheckRanksAgree(identity, NoLog(), group);
      EXPECT_TRUE(group->first());
    } catch (const Error& error) {
      EXPECT_FALSE(group->first());
      EXPECT_THAT(error.what(),
                  testing::HasSubstr(R"_(attend is "0.1.0 (b)", there "0.1.0 (a)")_"));
    }
  });
}

FlatLayout SmallLayout() {
  FlatLayout layout;
  for (const int64_t elements : {40, 16, 3, 100, 16}) {
    layout.entries.push_back({"p", {elements}, layout.size});
    layout.size += (elements + 15) / 16 * 16;
  }
  return layout;
}

constexpr int64_t kBucket = 16;  // a parameter each

TEST(GradientReducerTest, AddsUpPartsAndRanksInAnyOrderOfArrival) {
  const FlatLayout layout = SmallLayout();
  OnEachRank(2, [&](ProcessGroup* group) {
    const std::vector<torch::Tensor> parts{torch::zeros({layout.size}),
                                           torch::zeros({layout.size})};
    GradientReducer reducer(layout, parts, group, kBucket);
    for (int64_t update = 1; update < 4; ++update) {
      reducer.Begin();
      for (int64_t part = 0; part < 2; ++part) {
        parts[part].fill_(update * (1 + part + 10 * group->rank()));
        // The second rank's come from the first parameter on, and not all are told.
        for (int64_t i = 0; i < 4; ++i) reducer.Ready(part, group->first() ? 4 - i : i);
        reducer.AllReady(part);
      }
      reducer.Wait();
      EXPECT_TRUE(parts[0].equal(torch::full({layout.size}, 26.0 * update))) << update;
    }
  });
}

TEST(GradientReducerTest, ABucketIsOnItsWayBeforeTheOthersAreThere) {
  const FlatLayout layout = SmallLayout();
  OnEachRank(2, [&](ProcessGroup* group) {
    const torch::Tensor part = torch::ones({layout.size});
    GradientReducer reducer(layout, {part}, group, kBucket);
    reducer.Begin();
    for (int64_t parameter = 4; parameter > 1; --parameter) reducer.Ready(0, parameter);
    reducer.Wait();
    const int64_t first = layout.entries[2].offset;
    EXPECT_TRUE(part.narrow(0, 0, first).equal(torch::ones({first})));
    const int64_t size = layout.size - first;
    EXPECT_TRUE(part.narrow(0, first, size).equal(torch::full({size}, 2.0)));
    reducer.AllReady(0);
    reducer.Wait();
    EXPECT_TRUE(part.equal(torch::full({layout.size}, 2.0)));
  });
}

// Two parameters, of which the backward pass comes to the second first; in between it calls
// `between`.
class TwoParameters : public LoopTask {
 public:
  TwoParameters() {
    first_ = module_.register_parameter("first", torch::ones({16}));
    second_ = module_.register_parameter("second", torch::ones({16}));
  }
  const ExampleSource& examples() const override { throw std::logic_error("not for use"); }
  torch::nn::Module& module() override { return module_; }
  int64_t CountTargets(const Examples& examples) const override { return examples.size(); }
  double Work(const Example&) const override { return 1; }
  torch::Tensor Loss(const Shard& shard, uint64_t) override {
    const torch::Tensor hidden = first_ * static_cast<double>(shard.examples.size());
    hidden.register_hook([this](const torch::Tensor&) { between(); });
    return (hidden * second_).sum().to(torch::kFloat64);
  }
  bool CanValidate() const override { return false; }
  ValidationResult Validate() override { return {}; }

  std::function<void()> between;

 private:
  torch::nn::Module module_;
  torch::Tensor first_, second_;
};

TEST(GradientReducerTest, BucketsAreAddedUpWhileTheBackwardPassGoesOn) {
  SetUpTorch(1);
  OnEachRank(2, [&](ProcessGroup* group) {
    TwoParameters task;
    UpdateMode mode;
    mode.bucket_elements = kBucket;
    Learner learner(&task, {}, mode, std::shared_ptr<ProcessGroup>(group, [](ProcessGroup*) {}));
    int passes = 0;
    task.between = [&] {
      ++passes;
      const torch::Tensor second = learner.parameters().gradients().narrow(0, 16, 16);
      const auto added_up = [&] { return second.equal(torch::ones({16})); };  // half from each
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (!added_up() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
      EXPECT_TRUE(added_up());
    };
    GlobalBatch both{{BatchOf({{{1}, {1}}, {{1}, {1}}})}};
    both.targets = 2;
    learner.Backward(both, 1);
    EXPECT_EQ(passes, 1);
    EXPECT_TRUE(learner.parameters().gradients().equal(torch::ones({32})));
  });
}

}  // namespace
}  // namespace attend
