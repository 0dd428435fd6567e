#include "train/device/gpu.h"

#include <gtest/gtest.h>

#include "base/files.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

TEST(GpuTest, PeaksAreFoundByWholeWords) {
  EXPECT_EQ(Bf16Peak("NVIDIA A100-SXM4-80GB"), 312e12);
  EXPECT_EQ(Bf16Peak("NVIDIA A10"), 125e12);
  EXPECT_EQ(Bf16Peak("NVIDIA A10G"), 0);
  EXPECT_EQ(Bf16Peak("NVIDIA H100 PCIe"), 756e12);
  EXPECT_EQ(Bf16Peak("NVIDIA H100 80GB HBM3"), 989e12);
  EXPECT_EQ(Bf16Peak("NVIDIA H200"), 989e12);
  EXPECT_EQ(Bf16Peak("NVIDIA L40S"), 362e12);
  EXPECT_EQ(Bf16Peak("NVIDIA L4"), 121e12);
  EXPECT_EQ(Bf16Peak(""), 0);
}

TEST(GpuTest, NamesAreTheDriversUnlessTheyDiffer) {
  const fs::path folder = fs::path(testing::TempDir()) / "gpu_test";
  fs::remove_all(folder);
  EXPECT_EQ(GpuName(folder), "");
  const auto add = [&](const char* bus, const std::string& name) {
    fs::create_directories(folder / bus);
    WriteFileSynced(folder / bus / "information",
                    "Model: \t\t " + name + "\nIRQ:   \t\t 90\nVideo BIOS: \t 96.00\n");
  };
  add("0000:01:00.0", "NVIDIA H200");
  EXPECT_EQ(GpuName(folder), "NVIDIA H200");
  add("0000:02:00.0", "NVIDIA H200");
  EXPECT_EQ(GpuName(folder), "NVIDIA H200");
  add("0000:03:00.0", "NVIDIA L4");
  EXPECT_EQ(GpuName(folder), "");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace attend
