// A folder in the place of "/", for what reads /proc and /sys.
#ifndef ATTEND_BASE_ROOT_FIXTURE_H_
#define ATTEND_BASE_ROOT_FIXTURE_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace attend {

// Empty at a test's start.
class RootFixture : public testing::Test {
 protected:
  RootFixture() { std::filesystem::remove_all(root_); }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  const std::filesystem::path root_ = std::filesystem::path(testing::TempDir()) /
                                      testing::UnitTest::GetInstance()->current_test_info()->name();
};

}  // namespace attend

#endif  // ATTEND_BASE_ROOT_FIXTURE_H_
