#include "model/shortlist.h"

#include "attend/error.h"
#include "base/files.h"
#include "model/model_fixture.h"

namespace attend {
namespace {

class ShortlistTest : public FolderTest {
 protected:
  ShortlistTest() { shortlist_.candidates.resize(40); }

  void ExpectRefused(const Shortlist& shortlist, const std::string& part) {
    SaveShortlist(shortlist, model_, folder_ / "list");
    try {
      LoadShortlist(folder_ / "list", model_);
      FAIL() << part;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInput);
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }

  Model model_ = SmallModel();
  Shortlist shortlist_;
};

TEST_F(ShortlistTest, ColumnsAreThoseOfThePiecesAndTheFrequentOnes) {
  shortlist_.frequent = {9, 2};
  shortlist_.candidates[5] = {30, 9, 4};
  shortlist_.candidates[6] = {30, 1};
  EXPECT_EQ(shortlist_.Columns(std::vector<int32_t>{5, 5, 6, 99}),
            (std::vector<int32_t>{1, 2, 4, 9, 30}));
  EXPECT_EQ(shortlist_.Columns({}), (std::vector<int32_t>{2, 9}));
}

TEST_F(ShortlistTest, WhatIsSavedIsLoaded) {
  shortlist_.frequent = {9, 2};
  shortlist_.candidates[5] = {30, 9, 4};
  SaveShortlist(shortlist_, model_, folder_ / "list");
  const Shortlist loaded = LoadShortlist(folder_ / "list", model_);
  EXPECT_EQ(loaded.frequent, shortlist_.frequent);
  EXPECT_EQ(loaded.candidates, shortlist_.candidates);
}

TEST_F(ShortlistTest, AnotherModelsOrADamagedOneIsRefused) {
  Shortlist outside = shortlist_;
  outside.candidates[3] = {40};
  ExpectRefused(outside, "holds id 40");
  outside = shortlist_;
  outside.frequent = {-1};
  ExpectRefused(outside, "holds id -1");
  SaveShortlist(shortlist_, model_, folder_ / "list");
  Model other = SmallModel();
  other.source_vocabulary = "another";
  EXPECT_THROW(LoadShortlist(folder_ / "list", other), Error);
  SaveModel(model_, folder_ / "model");
  EXPECT_THROW(LoadShortlist(folder_ / "model" / "model.safetensors", model_), Error);
  const std::string bytes = ReadFile(folder_ / "list");
  for (size_t size = 0; size < bytes.size(); size += 7) {
    WriteFileSynced(folder_ / "cut", bytes.substr(0, size));
    EXPECT_THROW(LoadShortlist(folder_ / "cut", model_), Error) << size;
  }
}

}  // namespace
}  // namespace attend
