#include "train/checkpoint/checkpoint_store.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "attend/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "train/checkpoint/average.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class CheckpointStoreTest : public testing::Test {
 protected:
  CheckpointStoreTest() : directory_(fs::path(testing::TempDir()) / "checkpoint_store_test") {
    fs::remove_all(directory_);
  }
  ~CheckpointStoreTest() override { fs::remove_all(directory_); }

  // A checkpoint with one tensor of three values, and a moving average where there is one.
  void Write(int64_t update, const std::vector<float>& values,
             const std::vector<float>& average = {}) {
    const auto tensor = [](const std::vector<float>& from) {
      TensorTable table;
      table.Add({"w",
                 TensorType::kF32,
                 {static_cast<int64_t>(from.size())},
                 reinterpret_cast<const std::byte*>(from.data())});
      return table;
    };
    std::map<std::string, TensorTable> files = {{kWeightsFile, tensor(values)},
                                                {kOptimizerFile, tensor(values)}};
    if (!average.empty()) files.emplace(kAverageFile, tensor(average));
    CheckpointStore(directory_).Write(update, files, {{"update", update}});
  }

  TensorTable Average(const std::vector<int64_t>& updates) const {
    std::vector<StoredCheckpoint> checkpoints;
    for (const int64_t update : updates) {
      checkpoints.push_back(ReadCheckpointState(CheckpointStore(directory_).DirectoryOf(update)));
    }
    return AverageCheckpoints(checkpoints);
  }

  Log Collect() {
    return [this](LogLevel level, std::string_view message) {
      if (level == LogLevel::kWarning) warnings_.emplace_back(message);
    };
  }

  fs::path directory_;
  std::vector<std::string> warnings_;
};

TEST_F(CheckpointStoreTest, NewestIsFoundByNumber) {
  EXPECT_FALSE(CheckpointStore(directory_).FindNewest(NoLog()).has_value());
  Write(9, {1, 2, 3});
  Write(10, {1, 2, 3});
  EXPECT_EQ(CheckpointStore(directory_).FindNewest(Collect())->update, 10);
  EXPECT_THAT(warnings_, ElementsAre());
}

TEST_F(CheckpointStoreTest, EveryDamageIsNamedAndTheOneBeforeUsed) {
  const CheckpointStore store(directory_);
  for (const std::string file : {kWeightsFile, kOptimizerFile, kStateFile, kDigestsFile}) {
    for (const bool remove : {true, false}) {
      fs::remove_all(directory_);
      Write(1, {1, 2, 3});
      Write(2, {4, 5, 6});
      const fs::path path = store.DirectoryOf(2) / file;
      if (remove) {
        fs::remove(path);
      } else {
        fs::resize_file(path, fs::file_size(path) / 2);
      }
      warnings_.clear();
      EXPECT_EQ(store.FindNewest(Collect())->update, 1);
      ASSERT_EQ(warnings_.size(), 1u);
      EXPECT_THAT(warnings_[0], HasSubstr("update-0000000002"));
    }
  }
}

TEST_F(CheckpointStoreTest, OneFlippedBitIsDamage) {
  const CheckpointStore store(directory_);
  for (const std::string file : {kWeightsFile, kStateFile, kDigestsFile}) {
    Write(1, {1, 2, 3});
    const fs::path path = store.DirectoryOf(1) / file;
    const std::string whole = ReadFile(path);
    for (size_t i = 0; i < whole.size(); ++i) {
      std::string bytes = whole;
      bytes[i] ^= 1;
      WriteFileSynced(path, bytes);
      EXPECT_THROW(store.FindNewest(NoLog()), Error) << file << i;  // there is none before it
    }
    fs::remove_all(directory_);
  }
}

TEST_F(CheckpointStoreTest, AnotherFormatIsNoDamage) {
  const CheckpointStore store(directory_);
  for (const bool with_digests : {false, true}) {
    Write(1, {1, 2, 3});
    Write(2, {1, 2, 3});
    const fs::path newest = store.DirectoryOf(2);
    const std::string state = R"({"format": 1, "update": 2})";
    WriteFileSynced(newest / kStateFile, state);
    if (with_digests) {
      WriteFileSynced(newest / kDigestsFile, fmt::format("{}  {}\n", Sha256(state), kStateFile));
    } else {
      fs::remove(newest / kDigestsFile);
    }
    try {
      store.FindNewest(Collect());
      FAIL();
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("has format 1, expected 2"));
    }
    EXPECT_THAT(warnings_, ElementsAre());
    fs::remove_all(directory_);
  }
}

TEST_F(CheckpointStoreTest, PruneBoundsWhatIsKept) {
  for (int64_t update = 1; update <= 5; ++update) Write(update, {1, 2, 3});
  CheckpointStore store(directory_);
  store.Prune({4, 5}, {2, 5});
  EXPECT_THAT(store.Updates(), ElementsAre(2, 4, 5));
  EXPECT_FALSE(fs::exists(store.DirectoryOf(2) / kOptimizerFile));
  EXPECT_TRUE(fs::exists(store.DirectoryOf(2) / kWeightsFile));
  EXPECT_TRUE(fs::exists(store.DirectoryOf(4) / kOptimizerFile));
}

TEST_F(CheckpointStoreTest, WhatPruneLeftIsNoDamage) {
  for (int64_t update = 1; update <= 4; ++update) Write(update, {1, 2, 3});
  CheckpointStore store(directory_);
  store.Prune({1, 4}, {2, 3});
  fs::remove(store.DirectoryOf(4) / kOptimizerFile);
  EXPECT_EQ(store.FindNewest(Collect())->update, 1);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("update-0000000004")));
}

TEST_F(CheckpointStoreTest, LeftoversOfAKilledWriterGoButNotForReaders) {
  Write(1, {1, 2, 3});
  fs::create_directory(directory_ / "update-0000000002.attend-tmp");
  CheckpointStore store(directory_);
  EXPECT_EQ(store.FindNewest(NoLog())->update, 1);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 2);  // a trainer may write one
  store.Prepare();
  EXPECT_THAT(store.Updates(), ElementsAre(1));
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 1);
}

TEST_F(CheckpointStoreTest, AverageIsTheMeanSummedInDoubles) {
  // In f32, 1 + 1e-8 + ... would lose the small ones.
  Write(1, {1, 16777216, -3});
  Write(2, {2, 1, -3});
  Write(3, {6, 1, 0.5});
  const TensorTable average = Average({1, 2, 3});
  const float* values = average.Get("w").f32();
  EXPECT_EQ(values[0], 3.0f);
  EXPECT_EQ(values[1], static_cast<float>(16777218.0 / 3));
  EXPECT_EQ(values[2], static_cast<float>(-5.5 / 3));
}

TEST_F(CheckpointStoreTest, AverageTakesTheMovingAverage) {
  Write(1, {1, 1, 1}, {5, 6, 7});
  const TensorTable average = Average({1});
  EXPECT_EQ(average.Get("w").f32()[2], 7.0f);
}

TEST_F(CheckpointStoreTest, AverageRefusesAnotherModelAndDamage) {
  Write(1, {1, 2, 3});
  Write(2, {1, 2});
  const CheckpointStore store(directory_);
  EXPECT_THROW(Average({1, 2}), Error);
  EXPECT_THROW(Average({7}), Error);
  EXPECT_THROW(Average({}), Error);
  fs::resize_file(store.DirectoryOf(1) / kWeightsFile, 40);
  EXPECT_THROW(Average({1}), Error);
  TensorTable bytes;  // four times too few for what reads f32
  bytes.Add({"w", TensorType::kI8, {3}, reinterpret_cast<const std::byte*>("abc")});
  CheckpointStore(directory_).Write(3, {{kWeightsFile, bytes}}, {{"update", 3}});
  EXPECT_THROW(Average({3}), Error);
}

}  // namespace
}  // namespace attend
