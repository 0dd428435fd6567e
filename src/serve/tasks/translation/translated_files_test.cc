#include "serve/tasks/translation/translated_files.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

using std::chrono::minutes;

const TranslatedFiles::Clock::time_point kBegin{};

TEST(TranslatedFilesTest, FilesStayForTenMinutes) {
  TranslatedFiles files;
  const std::string first = files.Put("one", ".txt", kBegin);
  const std::string second = files.Put("two", ".html", kBegin + minutes(5));
  EXPECT_TRUE(first.ends_with(".txt") && second.ends_with(".html"));
  EXPECT_NE(first.substr(0, 32), second.substr(0, 32));
  EXPECT_EQ(files.Get(first, kBegin + minutes(9)), "one");
  EXPECT_EQ(files.Get(first, kBegin + minutes(10)), std::nullopt);
  EXPECT_EQ(files.Get(second, kBegin + minutes(10)), "two");
  EXPECT_EQ(files.Get("", kBegin), std::nullopt);
}

TEST(TranslatedFilesTest, TheOldestMakeRoom) {
  TranslatedFiles files;
  const std::string large(30 << 20, 'x');
  const std::string first = files.Put(large, "", kBegin), second = files.Put(large, "", kBegin);
  EXPECT_EQ(files.Get(first, kBegin), large);
  const std::string third = files.Put(large, "", kBegin);
  EXPECT_EQ(files.Get(first, kBegin), std::nullopt);
  EXPECT_EQ(files.Get(second, kBegin), large);
  EXPECT_EQ(files.Get(third, kBegin), large);
}

}  // namespace
}  // namespace attend
