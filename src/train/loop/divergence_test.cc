#include "train/loop/divergence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace attend {
namespace {

std::string Of(const std::vector<const char*>& losses) {
  const auto path = std::filesystem::path(testing::TempDir()) / "divergence_test.jsonl";
  std::ofstream file(path);
  for (const char* loss : losses) file << "{\"update\":1,\"loss\":" << loss << "}\n";
  file << "{\"update\":1,\"validation\":{\"loss\":1e9}}\n";
  file.close();
  return DivergenceIn(path, 100);
}

TEST(Divergence, IsALossThatEndsAboveItsBeginningAndGuessing) {
  EXPECT_EQ(Of({"5", "4", "3"}), "");
  EXPECT_EQ(Of({"2", "3"}), "");         // below guessing
  EXPECT_EQ(Of({"9", "8"}), "");         // as of a loss with other terms
  EXPECT_EQ(Of({"5", "4", "5.1"}), "");  // noise
  EXPECT_EQ(Of({}), "");
  EXPECT_EQ(Of({"6e7"}), "");
  EXPECT_EQ(Of({"5", "4", "3}\n{\"upd"}), "");  // cut by a kill, as every reader takes it
  EXPECT_THAT(Of({"5", "4", "6e7"}), testing::HasSubstr("ended at 6e+07, above the 5 of"));
  EXPECT_THAT(Of({"5", "4", "null"}), testing::HasSubstr("1 of the last 1 updates were skipped"));
}

}  // namespace
}  // namespace attend
