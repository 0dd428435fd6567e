#include "base/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "attend/error.h"
#include "base/sha256.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

class FilesTest : public testing::Test {
 protected:
  FilesTest() : folder_(fs::path(testing::TempDir()) / "attend_files_test") {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~FilesTest() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(FilesTest, WritesAndReadsBack) {
  const std::string bytes("one\0two", 7);
  WriteFileAtomically(folder_ / "a", bytes);
  EXPECT_EQ(ReadFile(folder_ / "a"), bytes);
  EXPECT_EQ(MappedFile::Open(folder_ / "a")->text(), bytes);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
  WriteFileAtomically(folder_ / "empty", "");
  EXPECT_TRUE(MappedFile::Open(folder_ / "empty")->text().empty());
}

TEST_F(FilesTest, WritesParts) {
  AtomicFile file(folder_ / "parts");
  for (const std::string_view part : {"one ", "", "two"}) file.Write(part);
  file.Commit();
  EXPECT_EQ(ReadFile(folder_ / "parts"), "one two");
}

TEST_F(FilesTest, PipeIsRefusedAtOnce) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THROW(MappedFile::Open(folder_ / "pipe"), Error);
  EXPECT_THROW(ReadFile(folder_ / "pipe"), Error);
}

TEST_F(FilesTest, NamesThePath) {
  try {
    ReadFile(folder_ / "absent");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_NE(std::string(error.what()).find("absent': No such file"), std::string::npos);
  }
  EXPECT_THROW(MappedFile::Open(folder_), Error);
  EXPECT_THROW(WriteFileAtomically(folder_ / "no" / "such", "x"), Error);
}

TEST_F(FilesTest, AFileWrittenInPiecesAppearsWholeOrNotAtAll) {
  WriteFileAtomically(folder_ / "a", "old");
  fs::create_symlink(folder_ / "a", folder_ / "link");
  {
    AtomicFile file(folder_ / "a");
    file.Write("new");
    EXPECT_EQ(ReadFile(folder_ / "a"), "old");
  }
  EXPECT_EQ(ReadFile(folder_ / "a"), "old");
  {
    AtomicFile file(folder_ / "link");
    file.Write("ne");
    file.Write("w");
    file.Commit();
  }
  EXPECT_EQ(ReadFile(folder_ / "a"), "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 2);
  EXPECT_THROW(AtomicFile(folder_ / "gone" / "a"), Error);
  EXPECT_THROW(AtomicFile{folder_}, Error);
  AtomicFile full("/dev/full");
  EXPECT_THROW(full.Write("x"), Error);
}

TEST_F(FilesTest, WhatAnEarlierRunLeftIsReplaced) {
  WriteFileSynced(folder_ / "a.attend-tmp", "left by a run that was killed, and longer");
  AtomicFile file(folder_ / "a");
  file.Write("new");
  EXPECT_FALSE(fs::exists(folder_ / "a"));
  file.Commit();
  EXPECT_EQ(ReadFile(folder_ / "a"), "new");
  EXPECT_FALSE(fs::exists(folder_ / "a.attend-tmp"));
}

TEST_F(FilesTest, DirectoryAppearsWholeOrNotAtAll) {
  {
    AtomicDirectory abandoned(folder_ / "d");
    WriteFileSynced(abandoned.path() / "f", "1");
  }
  EXPECT_TRUE(fs::is_empty(folder_));
  for (const char* text : {"1", "2"}) {
    AtomicDirectory directory(folder_ / "d/");
    WriteFileSynced(directory.path() / "f", text);
    directory.Commit();
    EXPECT_EQ(ReadFile(folder_ / "d" / "f"), text);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(FilesTest, WhatReplacesAFileHasItsMode) {
  WriteFileAtomically(folder_ / "a", "private");
  fs::permissions(folder_ / "a", fs::perms::owner_read | fs::perms::owner_write);
  WriteFileAtomically(folder_ / "a", "private too");
  EXPECT_EQ(fs::status(folder_ / "a").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(FilesTest, AnExchangeByRenamesThatFailsChangesNothing) {
  const fs::path a = folder_ / "b.attend-tmp", b = folder_ / "b";
  fs::create_directories(b);
  WriteFileAtomically(b / "part", "old");
  EXPECT_FALSE(ExchangeByRenames(a, b));  // there is no a
  EXPECT_EQ(ReadFile(b / "part"), "old");
  fs::create_directories(a);
  WriteFileAtomically(a / "part", "new");
  EXPECT_TRUE(ExchangeByRenames(a, b));
  EXPECT_EQ(ReadFile(b / "part") + ReadFile(a / "part"), "newold");
}

TEST_F(FilesTest, WhatAKillBetweenRenamesLeftIsFound) {
  const fs::path b = folder_ / "b", between = folder_ / "b.attend-tmp.attend-tmp";
  fs::create_directories(between);
  WriteFileAtomically(between / "part", "old");
  const AtomicDirectory unfinished(b);
  EXPECT_EQ(ReadFile(b / "part"), "old");
}

TEST_F(FilesTest, DirectoryReplacesWhatALinkLeadsToAndTouchesNothingBesideIt) {
  for (const char* name : {"d", "d.old", "d.tmp"}) {
    fs::create_directory(folder_ / name);
    WriteFileSynced(folder_ / name / "mine", name);
  }
  fs::create_directory_symlink(folder_ / "d", folder_ / "link");
  AtomicDirectory directory(folder_ / "link");
  WriteFileSynced(directory.path() / "f", "1");
  EXPECT_EQ(ReadFile(folder_ / "d" / "mine"), "d");
  directory.Commit();
  EXPECT_EQ(ReadFile(folder_ / "link" / "f"), "1");
  EXPECT_FALSE(fs::exists(folder_ / "d" / "mine"));
  EXPECT_EQ(ReadFile(folder_ / "d.old" / "mine"), "d.old");
  EXPECT_EQ(ReadFile(folder_ / "d.tmp" / "mine"), "d.tmp");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 4);
}

TEST_F(FilesTest, APipeIsWrittenNotReplaced) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  const int reader = open((folder_ / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
  WriteFileAtomically(folder_ / "pipe", "text");
  char text[8] = {};
  EXPECT_EQ(read(reader, text, sizeof text), 4);
  close(reader);
  EXPECT_TRUE(fs::is_fifo(folder_ / "pipe"));
}

TEST_F(FilesTest, ALinkToAPipeWithoutANameIsWrittenToo) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  fs::create_symlink("/proc/self/fd/" + std::to_string(ends[1]), folder_ / "link");
  WriteFileAtomically(folder_ / "link", "text");
  char text[8] = {};
  EXPECT_EQ(read(ends[0], text, sizeof text), 4);
  for (const int end : ends) close(end);
}

TEST_F(FilesTest, APathWithoutAFileNameIsRefusedBeforeTheWork) {
  EXPECT_THROW(AtomicFile(""), Error);
  EXPECT_THROW(AtomicFile(folder_ / "new/"), Error);
  EXPECT_THROW(AtomicFile("-"), Error);
  EXPECT_THROW(AtomicDirectory("-"), Error);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST(Sha256Test, KnownDigest) {  // FIPS 180-2, appendix B.1
  EXPECT_EQ(Sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256Test, OfAFileIsThatOfItsBytes) {
  const std::string path = testing::TempDir() + "sha256";
  for (const size_t size : {size_t{0}, size_t{3}, size_t{1} << 18, (size_t{1} << 20) + 1}) {
    const std::string bytes(size, 'x');
    std::ofstream(path, std::ios::binary) << bytes;
    EXPECT_EQ(Sha256OfFile(path), Sha256(bytes)) << size;
  }
  std::filesystem::remove(path);
  EXPECT_THROW(Sha256OfFile(path), Error);
  EXPECT_THROW(Sha256OfFile(testing::TempDir()), Error);
}

}  // namespace
}  // namespace attend
