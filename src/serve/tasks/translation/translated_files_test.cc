#include "serve/tasks/translation/translated_files.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

using std::chrono::minutes;

const TranslatedFiles::Clock::time_point kStart{};

TEST(TranslatedFilesTest, FilesStayForTenMinutes) {
  TranslatedFiles files;
  const std::string first = files.Put("one", ".txt", kStart);
  const std::string second = files.Put("two", ".html", kStart + minutes(5));
  EXPECT_TRUE(first.ends_with(".txt") && second.ends_with(".html"));
  EXPECT_NE(first.substr(0, 32), second.substr(0, 32));
  EXPECT_EQ(files.Get(first, kStart + minutes(9)), "one");
  EXPECT_EQ(files.Get(first, kStart + minutes(10)), std::nullopt);
  EXPECT_EQ(files.Get(second, kStart + minutes(10)), "two");
  EXPECT_EQ(files.Get("", kStart), std::nullopt);
}

TEST(TranslatedFilesTest, TheOldestMakeRoom) {
  TranslatedFiles files;
  const std::string large(30 << 20, 'x');
  const std::string first = files.Put(large, "", kStart), second = files.Put(large, "", kStart);
  EXPECT_EQ(files.Get(first, kStart), large);
  const std::string third = files.Put(large, "", kStart);
  EXPECT_EQ(files.Get(first, kStart), std::nullopt);
  EXPECT_EQ(files.Get(second, kStart), large);
  EXPECT_EQ(files.Get(third, kStart), large);
}

}  // namespace
}  // namespace attend
