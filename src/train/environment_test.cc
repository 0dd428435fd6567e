#include "train/environment.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>

namespace attend {
namespace {

int64_t PageFaults() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

TEST(EnvironmentTest, FreedMemoryIsThereAgainWithoutPageFaults) {
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);  // a fault of a huge page would count for hundreds
  KeepFreedMemory();
  constexpr size_t kBytes = size_t{1} << 26, kPage = 4096;
  const auto use = [] {
    char* block = static_cast<char*>(std::malloc(kBytes));
    std::fill(block, block + kBytes, 1);
    const char seen = *static_cast<volatile char*>(block + kBytes / 2);
    std::free(block);
    return seen;
  };
  use();
  const int64_t before = PageFaults();
  use();
  EXPECT_LT(PageFaults() - before, static_cast<int64_t>(kBytes / kPage / 10));
}

}  // namespace
}  // namespace attend
