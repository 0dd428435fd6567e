#include "cli/translate/partial_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "attend/error.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

class PartialFileTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string Read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void Append(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::app) << text;
  }
  // Windows of two lines each from line `from` on, up to line `to`.
  static void Work(PartialFile* file, int from, int to) {
    for (int line = from; line < to; line += 2) {
      file->Take("line " + std::to_string(line));
      file->Take("line " + std::to_string(line + 1));
      file->Write("LINE " + std::to_string(line) + "\nLINE " + std::to_string(line + 1) + "\n");
    }
  }
  static void Pass(PartialFile* file, int count) {
    for (int line = 0; line < count; ++line) file->Take("line " + std::to_string(line));
  }
  std::unique_ptr<PartialFile> Open(bool resume = false) {
    return std::make_unique<PartialFile>(target_, key_, resume, NoLog());
  }
  // What a call gives that goes on with the files as they are.
  std::string GoOn(int64_t expected_lines) {
    const auto file = Open(true);
    EXPECT_EQ(file->lines(), expected_lines);
    Pass(file.get(), static_cast<int>(file->lines()));
    Work(file.get(), static_cast<int>(file->lines()), 10);
    file->Finish();
    file->Commit();
    EXPECT_FALSE(fs::exists(text_));
    EXPECT_FALSE(fs::exists(journal_));
    return Read(target_);
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "partial_file_test";
  const fs::path target_ = folder_ / "out";
  const fs::path text_ = folder_ / "out.partial", journal_ = folder_ / "out.partial.jsonl";
  JobKey key_{"1.0", {{"beam_size", 4}}};
};

TEST_F(PartialFileTest, EveryCutOfTheTextAndOfTheJournalEndsInTheSameBytes) {
  Work(Open().get(), 0, 6);
  const std::string text = Read(text_), journal = Read(journal_);
  const std::string whole = GoOn(6);
  ASSERT_TRUE(whole.starts_with(text));
  // A killed writer's journal never tells of more than the text has; a machine that lost power's
  // may.
  for (size_t cut = 0; cut <= journal.size(); cut += cut + 90 < journal.size() ? 13 : 1) {
    std::ofstream(text_) << text + "LINE 6\nLI";
    std::ofstream(journal_) << journal.substr(0, cut);
    const bool told = cut > static_cast<size_t>(journal.find('\n'));
    if (!told) {
      EXPECT_THROW(Open(true), Error);  // it may be anybody's
      continue;
    }
    const auto entries =
        std::count(journal.begin(), journal.begin() + static_cast<int64_t>(cut), '\n') - 1;
    EXPECT_EQ(GoOn(2 * entries), whole) << cut;
  }
  for (size_t cut = text.size() / 2; cut <= text.size(); ++cut) {
    std::ofstream(text_) << text.substr(0, cut);
    std::ofstream(journal_) << journal;
    EXPECT_EQ(GoOn(cut < text.size() ? (cut < 28 ? 2 : 4) : 6), whole) << cut;
  }
}

TEST_F(PartialFileTest, TellsWhetherTheTargetIsInPlace) {
  const auto file = Open();
  Work(file.get(), 0, 2);
  file->Finish();
  EXPECT_FALSE(file->committed());
  file->Commit();
  EXPECT_TRUE(file->committed() && file->Leave().empty());
}

TEST_F(PartialFileTest, FinishedLinesAreNeverOverwritten) {
  Work(Open().get(), 0, 4);
  EXPECT_THROW(Open(), Error);
  EXPECT_EQ(Read(text_), "LINE 0\nLINE 1\nLINE 2\nLINE 3\n");
  fs::remove(text_);
  EXPECT_EQ(Open()->lines(), 0);
  EXPECT_FALSE(fs::exists(text_) || fs::exists(journal_));  // without a finished line nothing stays
}

TEST_F(PartialFileTest, OneWriterAtATime) {
  const auto first = Open();
  EXPECT_THROW(Open(), Error);
  EXPECT_THROW(Open(true), Error);
}

TEST_F(PartialFileTest, OtherOptionsAndOtherInputAreNamed) {
  Work(Open().get(), 0, 4);
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  key_.settings["beam_size"] = 5;
  EXPECT_NE(message([&] { Open(true); }).find("beam_size was 4, now it is 5"), std::string::npos);
  key_.settings = {{"beam_size", 4}, {"shard", "2/3"}};
  EXPECT_NE(message([&] { Open(true); }).find("shard was not there, now it is \"2/3\""),
            std::string::npos);
  key_.settings = {{"beam_size", 4}};
  key_.program = "2.0";
  std::vector<std::string> warnings;
  PartialFile file(target_, key_, true, [&](LogLevel level, std::string_view text) {
    if (level == LogLevel::kWarning) warnings.emplace_back(text);
  });
  ASSERT_EQ(warnings.size(), 1);
  EXPECT_NE(warnings[0].find("begun by attend 1.0, this is 2.0"), std::string::npos);
  Pass(&file, 3);
  EXPECT_NE(message([&] { file.Take("line three"); }).find("lines 3 to 4 of the input"),
            std::string::npos);
}

TEST_F(PartialFileTest, TextThatWasChangedIsMadeAgain) {
  Work(Open().get(), 0, 6);
  std::string text = Read(text_);
  text[text.find('3')] = 'x';
  std::ofstream(text_) << text;
  EXPECT_EQ(GoOn(2).find('x'), std::string::npos);
  Append(text_, "another's\n");
  EXPECT_THROW(Open(), Error);
  EXPECT_THROW(Open(true), Error);
  EXPECT_EQ(Read(text_), "another's\n");
  EXPECT_FALSE(fs::exists(journal_));
}

}  // namespace
}  // namespace attend
