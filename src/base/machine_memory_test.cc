#include "base/machine_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <limits>
#include <string>

#include "base/root_fixture.h"

namespace attend {
namespace {

class MachineMemoryTest : public RootFixture {};

TEST_F(MachineMemoryTest, IsTheMachinesWithSwap) {
  Write("proc/meminfo", "MemTotal:        1000 kB\nMemFree:  900 kB\nSwapTotal:  24 kB\n");
  EXPECT_EQ(MachineMemory(root_), 1024 * 1024u);
  Write("proc/self/cgroup", "0::/a/b\n");
  EXPECT_EQ(MachineMemory(root_), 1024 * 1024u);
  Write("sys/fs/cgroup/a/b/memory.max", "max\n");
  EXPECT_EQ(MachineMemory(root_), 1024 * 1024u);
}

TEST_F(MachineMemoryTest, IsTheLeastBoundOfItsGroupsAndThoseAroundThem) {
  Write("proc/meminfo", "MemTotal:        1000 kB\n");
  Write("proc/self/cgroup", "9:name=systemd:/\n4:cpuset,memory:/x:/y\n0::/a/b\n");
  Write("sys/fs/cgroup/a/b/memory.max", "90000\n");
  EXPECT_EQ(MachineMemory(root_), 90000u);
  Write("sys/fs/cgroup/memory.max", "80000\n");  // as inside of a container
  EXPECT_EQ(MachineMemory(root_), 80000u);
  Write("sys/fs/cgroup/memory/x:/y/memory.limit_in_bytes", "70000\n");
  EXPECT_EQ(MachineMemory(root_), 70000u);
  Write("sys/fs/cgroup/memory/x:/memory.limit_in_bytes", "60000\n");
  EXPECT_EQ(MachineMemory(root_), 60000u);
  Write("sys/fs/cgroup/memory/z/memory.limit_in_bytes", "50000\n");  // another's
  EXPECT_EQ(MachineMemory(root_), 60000u);
}

TEST_F(MachineMemoryTest, IsUnboundedWhereNothingTells) {
  EXPECT_EQ(MachineMemory(root_), std::numeric_limits<uint64_t>::max());
}

// Within a factor, since this machine may be a container.
TEST(ThisMachine, HasMemory) {
  const auto pages = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES));
  EXPECT_GT(MachineMemory(), uint64_t{1} << 24);
  EXPECT_LE(MachineMemory(), 4 * pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
}

}  // namespace
}  // namespace attend
