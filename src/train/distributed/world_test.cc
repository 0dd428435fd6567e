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

Variables OfSlurm(const Variables& changes) {
  Variables variables = {{"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_PROCID", "5"},
                         {"SLURM_LOCALID", "1"},        {"SLURM_STEP_NODELIST", "node[03-05,7]"},
                         {"SLURM_JOB_ID", "1234567"},   {"SLURM_STEP_ID", "2"}};
  for (const auto& [name, value] : changes) variables[name] = value;
  return variables;
}

std::string SlurmComplaint(const Variables& changes) {
  try {
    Read(OfSlurm(changes));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kConfiguration);
    return error.what();
  }
  return "";
}

TEST(WorldTest, ReadsWhatSrunSets) {
  const World world = Read(OfSlurm({}));
  EXPECT_EQ(world.rank, 5);
  EXPECT_EQ(world.size, 8);
  EXPECT_EQ(world.local_rank, 1);
  EXPECT_EQ(world.address, "node03");
  EXPECT_EQ(world.port, 10000 + (1234567 * 16 + 2) % 20000);
  EXPECT_FALSE(world.store_stands);
  EXPECT_NE(Read(OfSlurm({{"SLURM_STEP_ID", "3"}})).port, world.port);
  EXPECT_NE(Read(OfSlurm({{"SLURM_JOB_ID", "1234568"}})).port, world.port);
}

TEST(WorldTest, TheMeetingPlaceIsTheFirstHostOfSlurmsList) {
  for (const auto& [hosts, first] : Variables{{"alone", "alone"},
                                              {"b,a", "b"},
                                              {"node7,node[01-02]", "node7"},
                                              {"node[7,03-05]", "node7"},
                                              {"node[12]", "node12"},
                                              {"rack[2-3]node[04-08]", "rack2node04"},
                                              {"gpu-a[001-128].cluster,x", "gpu-a001.cluster"}}) {
    EXPECT_EQ(Read(OfSlurm({{"SLURM_STEP_NODELIST", hosts}})).address, first) << hosts;
  }
}

TEST(WorldTest, VariablesSetByHandWinOverSlurms) {
  const World placed = Read(OfSlurm({{"MASTER_ADDR", "10.0.0.1"}, {"MASTER_PORT", "29501"}}));
  EXPECT_EQ(placed.address, "10.0.0.1");
  EXPECT_EQ(placed.port, 29501);
  EXPECT_EQ(placed.rank, 5);
  // torchrun under srun.
  const World world = Read(OfSlurm({{"RANK", "1"},
                                    {"WORLD_SIZE", "2"},
                                    {"MASTER_ADDR", "localhost"},
                                    {"MASTER_PORT", "29500"}}));
  EXPECT_EQ(world.rank, 1);
  EXPECT_EQ(world.size, 2);
  EXPECT_EQ(world.local_rank, -1);
}

TEST(WorldTest, ABatchScriptWithoutSrunIsAlone) {
  EXPECT_EQ(Read({{"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}, {"SLURM_JOB_ID", "12"}}).size, 1);
  EXPECT_EQ(Read(OfSlurm({{"SLURM_STEP_NUM_TASKS", "1"}})).size, 1);
}

TEST(WorldTest, BadVariablesOfSlurmAreNamed) {
  EXPECT_EQ(SlurmComplaint({}), "");
  EXPECT_THAT(SlurmComplaint({{"SLURM_PROCID", "8"}}),
              HasSubstr("SLURM_PROCID is '8', expected a whole number from 0 to 7"));
  EXPECT_THAT(SlurmComplaint({{"SLURM_PROCID", ""}}), HasSubstr("SLURM_PROCID is ''"));
  EXPECT_THAT(SlurmComplaint({{"SLURM_LOCALID", "x"}}), HasSubstr("SLURM_LOCALID is 'x'"));
  EXPECT_THAT(SlurmComplaint({{"SLURM_JOB_ID", ""}}), HasSubstr("SLURM_JOB_ID is ''"));
  for (const char* hosts : {"", "[", "node[03", "node[", "node[]", ",a"}) {
    EXPECT_THAT(SlurmComplaint({{"SLURM_STEP_NODELIST", hosts}}),
                HasSubstr("expected hosts such as node[03-05,7]; or set MASTER_ADDR"))
        << hosts;
  }
}

}  // namespace
}  // namespace attend
