#include "serve/upload_slots.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

TEST(UploadSlotsTest, OneClientLeavesSomeToOthers) {
  UploadSlots slots(3, 2);
  auto first = slots.Take("a");
  const auto second = slots.Take("a");
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(slots.HaveRoom("a"));
  EXPECT_EQ(slots.Take("a"), nullptr);
  EXPECT_TRUE(slots.HaveRoom("b"));
  const auto third = slots.Take("b");
  EXPECT_TRUE(third);
  EXPECT_EQ(slots.Take("c"), nullptr);
  first.reset();
  EXPECT_TRUE(slots.HaveRoom("a"));
  EXPECT_TRUE(slots.Take("c"));  // and goes at once
  EXPECT_TRUE(slots.Take("a"));
}

}  // namespace
}  // namespace attend
