// What a program says when memory runs out, as LibTorch tells it and as C++ does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <new>
#include <string>
#include <vector>

#include "cli/command_line.h"

namespace attend {
namespace {

constexpr size_t kTooMuch = size_t{1} << 62;  // 4 EiB

int AskLibTorch(const std::vector<std::string>& /*arguments*/) {
  return static_cast<int>(torch::empty({static_cast<int64_t>(kTooMuch)}, torch::kByte).numel());
}

int AskTheLanguage(const std::vector<std::string>& /*arguments*/) {
  return static_cast<int>(std::vector<char>(kTooMuch).size());
}

// As LibTorch's allocator for GPUs does.
int AskAGpu(const std::vector<std::string>& /*arguments*/) {
  TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory. Tried to allocate 64 TiB");
}

int Fail(const std::vector<std::string>& /*arguments*/) {
  TORCH_CHECK(false, "sizes do not match");
}

TEST(OutOfMemoryTest, IsToldInOneLineWithACure) {
  const std::vector<Command> commands = {{"libtorch", "", AskLibTorch},
                                         {"language", "", AskTheLanguage},
                                         {"gpu", "", AskAGpu},
                                         {"other", "", Fail}};
  for (const Command& command : commands) {
    std::string program = "attend", name = command.name;
    char* argv[] = {program.data(), name.data(), nullptr};
    testing::internal::CaptureStderr();
    EXPECT_EQ(RunProgram(commands, 2, argv), 1);
    const std::string line = testing::internal::GetCapturedStderr();
    EXPECT_THAT(line, testing::StartsWith(name == "other" ? "attend: internal error: sizes"
                                                          : "attend: out of memory; a smaller"))
        << name;
    EXPECT_EQ(line.find('\n'), line.size() - 1);
  }
}

}  // namespace
}  // namespace attend
