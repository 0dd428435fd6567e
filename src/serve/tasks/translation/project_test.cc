#include "serve/tasks/translation/project.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>

namespace attend {
namespace {

TEST(ProjectTest, OldVersionsGoAndWhatAKillLeftOfThem) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("project_test." + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::filesystem::path directory = folder / "acme", versions = directory / "versions";
  const auto names = [&] {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(versions))
      found.insert(entry.path().filename().string());
    return found;
  };
  {
    Project project(directory, "base");
    for (int64_t i = 1; i <= 3; ++i) {
      std::filesystem::create_directories(project.training() / "run");
      project.AddVersion(project.training() / "run", {.corrections = i}, /*most=*/2);
    }
    EXPECT_EQ(project.versions().front().number, 2);
  }
  EXPECT_EQ(names(), (std::set<std::string>{"2", "3"}));
  std::filesystem::rename(versions / "2", versions / ".2.gone");
  std::filesystem::remove(versions / ".2.gone/version.json");
  std::filesystem::create_directory(versions / "4.attend-tmp");
  const Project again(directory);
  EXPECT_EQ(again.versions().size(), 1);
  EXPECT_EQ(again.current(), 3);
  EXPECT_EQ(names(), std::set<std::string>{"3"});
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace attend
