#include "base/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <new>
#include <stdexcept>

#include "attend/error.h"

namespace attend {
namespace {

using testing::StartsWith;

TEST(FailureTest, IsToldInALineWithACure) {
  EXPECT_EQ(MessageOf(Error(ErrorKind::kInput, "'a\nb' is empty")), "'a\\nb' is empty");
  EXPECT_THAT(MessageOf(std::bad_alloc()), StartsWith("out of memory; a smaller model"));
  EXPECT_THAT(MessageOf(std::runtime_error("[enforce fail] DefaultCPUAllocator: can't allocate "
                                           "memory: you tried to allocate 4 bytes")),
              StartsWith("out of memory; a smaller model"));
  EXPECT_EQ(MessageOf(std::runtime_error("CUDA error\nframe #0")), "internal error: CUDA error");
  const std::filesystem::filesystem_error denied(
      "can't read", std::make_error_code(std::errc::permission_denied));
  EXPECT_EQ(MessageOf(denied), denied.what());
}

}  // namespace
}  // namespace attend
