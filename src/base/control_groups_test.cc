#include "base/control_groups.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/root_fixture.h"

namespace attend {
namespace {

class ProcessorQuotaTest : public RootFixture {};

TEST_F(ProcessorQuotaTest, IsUnboundedWhereNothingTells) {
  EXPECT_EQ(ProcessorQuota(root_), std::numeric_limits<double>::infinity());
  Write("proc/self/cgroup", "3:cpu,cpuacct:/x\n0::/a\n");
  Write("sys/fs/cgroup/a/cpu.max", "max 100000\n");
  Write("sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "-1\n");
  Write("sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(ProcessorQuota(root_), std::numeric_limits<double>::infinity());
}

TEST_F(ProcessorQuotaTest, IsTheLeastOfItsGroupsAndThoseAroundThem) {
  Write("proc/self/cgroup", "0::/a/b\n");
  Write("sys/fs/cgroup/a/b/cpu.max", "400000 100000\n");
  EXPECT_EQ(ProcessorQuota(root_), 4);
  Write("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  EXPECT_EQ(ProcessorQuota(root_), 1.5);
  Write("sys/fs/cgroup/cpu.max", "50000 100000\n");  // as inside of a container
  EXPECT_EQ(ProcessorQuota(root_), 0.5);
}

TEST_F(ProcessorQuotaTest, OfVersion1ToldUnderTheControllersNameOrNames) {
  Write("proc/self/cgroup", "9:cpuset:/z\n4:cpu,cpuacct:/x\n");
  Write("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "300000\n");
  Write("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(ProcessorQuota(root_), 3);
  std::filesystem::create_directory_symlink("cpu,cpuacct", root_ / "sys/fs/cgroup/cpu");
  Write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "20000\n");
  Write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "10000\n");
  EXPECT_EQ(ProcessorQuota(root_), 2);
}

}  // namespace
}  // namespace attend
