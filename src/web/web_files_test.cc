#include "web/web_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace attend {
namespace {

TEST(WebFilesTest, AreThoseOfTheFolderToTheByte) {
  std::map<std::string, std::string> wanted, found;
  for (const auto& entry : std::filesystem::directory_iterator(ATTEND_SOURCE_DIR "/src/web")) {
    const std::string suffix = entry.path().extension().string();
    if (suffix == ".cc" || suffix == ".h" || suffix == ".txt") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    wanted[entry.path().filename().string()] =
        std::string(std::istreambuf_iterator<char>(file), {});
  }
  for (const WebFile& file : WebFiles()) found[std::string(file.name)] = file.content;
  EXPECT_EQ(found, wanted);
}

TEST(WebFilesTest, HaveTypes) {
  std::map<std::string, std::string_view> types;
  for (const WebFile& file : WebFiles()) {
    types[std::filesystem::path(file.name).extension().string()] = file.type;
  }
  const std::map<std::string, std::string_view> wanted = {{".css", "text/css; charset=utf-8"},
                                                          {".html", "text/html; charset=utf-8"},
                                                          {".js", "text/javascript; charset=utf-8"},
                                                          {".svg", "image/svg+xml; charset=utf-8"}};
  EXPECT_EQ(types, wanted);
}

}  // namespace
}  // namespace attend
