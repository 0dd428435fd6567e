#include "model/shortlist.h"

#include "attend/error.h"
#include "model/model_fixture.h"
#include "model/safetensors.h"

namespace attend {
namespace {

class ShortlistTest : public FolderTest {
 protected:
  ShortlistTest() { shortlist_.candidates.resize(40); }

  void Save(const Shortlist& shortlist) {
    AtomicFile file(folder_ / "list");
    SaveShortlist(shortlist, model_, &file);
  }

  void ExpectRefused(const Shortlist& shortlist, const std::string& part) {
    Save(shortlist);
    ExpectRefused(LoadSafetensors(folder_ / "list"), part);
  }

  void ExpectRefused(const TensorTable& tensors, const std::string& part) {
    try {
      ParseShortlist(tensors, model_, "list");
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
  Save(shortlist_);
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
  Save(shortlist_);
  Model other = SmallModel();
  other.source_vocabulary = "another";
  EXPECT_THROW(LoadShortlist(folder_ / "list", other), Error);
  SaveModel(model_, folder_ / "model");
  EXPECT_THROW(LoadShortlist(folder_ / "model" / "model.safetensors", model_), Error);
  ExpectRefused(LoadSafetensors(folder_ / "model" / "model.safetensors"), "is not a shortlist");
  const std::string bytes = ReadFile(folder_ / "list");
  for (size_t size = 0; size < bytes.size(); size += 7) {
    WriteFileSynced(folder_ / "cut", bytes.substr(0, size));
    EXPECT_THROW(LoadShortlist(folder_ / "cut", model_), Error) << size;
  }
}

TEST_F(ShortlistTest, TheFileHoldsWhatItsPageSaysAndNoMore) {
  shortlist_.candidates[5] = {30, 9, 4};
  Save(shortlist_);
  const TensorTable good = LoadSafetensors(folder_ / "list");
  const auto with = [&](const std::string& name, TensorType type, int64_t size, const void* data) {
    TensorTable tensors;
    for (const TensorView& tensor : good.tensors()) {
      if (tensor.name != name) tensors.Add(tensor);
    }
    if (data != nullptr) tensors.Add({name, type, {size}, static_cast<const std::byte*>(data)});
    return tensors;
  };
  const int32_t two = 2, zero = 0;
  ExpectRefused(with("version", TensorType::kI32, 0, nullptr), "'version' is missing");
  ExpectRefused(with("version", TensorType::kI32, 1, &two), "of version 2, expected at most 1");
  ExpectRefused(with("version", TensorType::kI32, 1, &zero), "version is not a number from 1");
  ExpectRefused(with("frequents", TensorType::kI32, 1, &two), "did you mean 'frequent'");
  std::vector<int64_t> ends(41, 3);
  const auto with_ends = [&](int64_t size) {
    return with("candidates_end", TensorType::kI64, size, ends.data());
  };
  ExpectRefused(with_ends(39), "has 39 entries, expected 40");
  ExpectRefused(with_ends(41), "has 41 entries, expected 40");
  EXPECT_EQ(ParseShortlist(with_ends(40), model_, "list").candidates[0].size(), 3u);
  ends[39] = 4;
  ExpectRefused(with_ends(40), "does not rise");
  ends.assign(40, 2);
  ExpectRefused(with_ends(40), "ends at 2, expected 3");
}

}  // namespace
}  // namespace attend
