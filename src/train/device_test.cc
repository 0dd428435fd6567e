#include "train/device.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

TEST(DeviceTest, GpusHaveTheMachinesNames) {
  EXPECT_EQ(GpuOfMachine(0, ""), "0");
  EXPECT_EQ(GpuOfMachine(3, ""), "3");
  EXPECT_EQ(GpuOfMachine(0, "2"), "2");
  EXPECT_EQ(GpuOfMachine(1, "2, 0"), "0");
  EXPECT_EQ(GpuOfMachine(1, "GPU-5a,GPU-6b"), "GPU-6b");
}

}  // namespace
}  // namespace attend
