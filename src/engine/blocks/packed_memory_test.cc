#include "engine/blocks/packed_memory.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace attend {
namespace {

TEST(PackedMemoryTest, PiecesLieSideBySideOnCacheLines) {
  PackedMemory memory(1000);
  std::byte* first = memory.Take(100);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0);
  EXPECT_EQ(memory.Take(1), first + 128);
  EXPECT_EQ(memory.Take(64), first + 192);
  std::byte* large = memory.Take(5000);
  EXPECT_TRUE(large < first || large >= first + 1000);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(large) % 64, 0);
}

TEST(PackedMemoryTest, ClearedMemoryIsTakenAgainUnlessItIsTooSmall) {
  PackedMemory memory(0);
  std::byte* first = memory.Take(300);
  memory.Clear();
  EXPECT_EQ(memory.Take(200), first);
  memory.Clear();
  std::byte* large = memory.Take(4000);
  memory.Clear();
  EXPECT_EQ(memory.Take(4000), large);  // the small piece is not in the way any more
}

TEST(PackedMemoryTest, LargePiecesStartOnAHugePage) {
  const AlignedVector<float> large(kHugePage / sizeof(float) + 1), small(10);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(large.data()) % kHugePage, 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(small.data()) % 64, 0);
}

}  // namespace
}  // namespace attend
