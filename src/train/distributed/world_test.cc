#include "train/distributed/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "attend/error.h"

namespace attend {
namespace {

using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

World Read(const Variables& variables) {
  return WorldFromEnvironment([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

std::string WorldComplaint(const Variables& changes) {
  Variables variables = {
      {"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "localhost"}, {"MASTER_PORT", "29500"}};
  for (const auto& [name, value] : changes) variables[name] = value;
  try {
    Read(variables);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kConfiguration);
    return error.what();
  }
  return "";
}

TEST(WorldTest, WithoutVariablesAProcessIsAlone) {
  EXPECT_EQ(Read({{"MASTER_ADDR", "somewhere"}, {"LOCAL_RANK", "3"}}).size, 1);
  EXPECT_EQ(Read({{"RANK", "0"}, {"WORLD_SIZE", "1"}}).size, 1);
}

TEST(WorldTest, ReadsWhatTorchrunSets) {
  const World world = Read({{"RANK", "5"},
                            {"WORLD_SIZE", "8"},
                            {"LOCAL_RANK", "1"},
                            {"MASTER_ADDR", "10.0.0.1"},
                            {"MASTER_PORT", "29501"},
                            {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                            {"TORCHELASTIC_RESTART_COUNT", "2"}});
  EXPECT_EQ(world.rank, 5);
  EXPECT_EQ(world.size, 8);
  EXPECT_EQ(world.local_rank, 1);
  EXPECT_EQ(world.address, "10.0.0.1");
  EXPECT_EQ(world.port, 29501);
  EXPECT_TRUE(world.store_stands);
  EXPECT_EQ(world.attempt, "2");
}

TEST(WorldTest, TheLocalRankMayBeLeftToTheMeeting) {
  const World world = Read(
      {{"RANK", "5"}, {"WORLD_SIZE", "8"}, {"MASTER_ADDR", "10.0.0.1"}, {"MASTER_PORT", "29501"}});
  EXPECT_EQ(world.local_rank, -1);
}

TEST(WorldTest, BadVariablesAreNamedWithWhatIsExpected) {
  EXPECT_EQ(WorldComplaint({}), "");
  EXPECT_THAT(WorldComplaint({{"MASTER_ADDR", ""}}),
              HasSubstr("WORLD_SIZE is set without MASTER_ADDR"));
  EXPECT_THAT(WorldComplaint({{"MASTER_PORT", ""}}),
              HasSubstr("WORLD_SIZE is set without MASTER_PORT"));
  EXPECT_THAT(WorldComplaint({{"RANK", ""}}), HasSubstr("WORLD_SIZE is set without RANK"));
  EXPECT_THAT(WorldComplaint({{"WORLD_SIZE", ""}}), HasSubstr("RANK is set without WORLD_SIZE"));
  EXPECT_THAT(WorldComplaint({{"RANK", "2"}}),
              HasSubstr("RANK is '2', expected a whole number from 0 to 1"));
  EXPECT_THAT(WorldComplaint({{"RANK", "-1"}}), HasSubstr("RANK is '-1'"));
  EXPECT_THAT(WorldComplaint({{"RANK", "1st"}}), HasSubstr("RANK is '1st'"));
  EXPECT_THAT(WorldComplaint({{"WORLD_SIZE", "two"}}), HasSubstr("WORLD_SIZE is 'two'"));
  EXPECT_THAT(WorldComplaint({{"WORLD_SIZE", "99999999999999999999"}}),
              HasSubstr("WORLD_SIZE is '9"));
  EXPECT_THAT(WorldComplaint({{"MASTER_PORT", "70000"}}),
              HasSubstr("MASTER_PORT is '70000', expected"));
  EXPECT_THAT(WorldComplaint({{"LOCAL_RANK", "2"}}), HasSubstr("LOCAL_RANK is '2'"));
}

}  // namespace
}  // namespace attend
