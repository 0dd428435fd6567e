#include "train/device/environment.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace attend {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

TEST(EnvironmentTest, VariablesThatTheUserHasSetStay) {
  const char* const handling = "TORCH_NCCL_ASYNC_ERROR_HANDLING";
  const char* const older = "NCCL_ASYNC_ERROR_HANDLING";
  const char* const workspace = "CUBLAS_WORKSPACE_CONFIG";
  for (const char* name : {handling, older, workspace}) unsetenv(name);
  SetUpEnvironment();
  EXPECT_EQ(Variable(handling), "0");
  EXPECT_EQ(Variable(workspace), ":4096:8");
  setenv(handling, "1", 1);
  setenv(workspace, ":16:8", 1);
  SetUpEnvironment();
  EXPECT_EQ(Variable(handling), "1");
  EXPECT_EQ(Variable(workspace), ":16:8");
  unsetenv(handling);
  setenv(older, "1", 1);
  SetUpEnvironment();
  EXPECT_EQ(Variable(handling), "");
  for (const char* name : {older, workspace}) unsetenv(name);
}

}  // namespace
}  // namespace attend
