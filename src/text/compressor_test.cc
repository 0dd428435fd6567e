#include "text/compressor.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <vector>

#include "text/lines.h"

namespace attend {
namespace {

// `text`, added in pieces of `size` bytes.
std::string Compress(const std::string& name, const std::string& text, size_t size) {
  const auto compressor = Compressor::ForName(name);
  std::string packed;
  for (size_t at = 0; at < text.size(); at += size)
    packed += compressor->Add(text.substr(at, size));
  return packed + compressor->End();
}

TEST(CompressorTest, LineReaderReadsWhatWasWritten) {
  std::mt19937 random(3);
  std::vector<std::string> lines;
  std::string text;
  for (int i = 0; i < 30000; ++i) {
    text += lines.emplace_back("line " + std::to_string(random())) + '\n';
  }
  for (const std::string name : {"text.gz", "text.zst", "text"}) {
    const auto path = std::filesystem::path(testing::TempDir()) / ("compressor_test." + name);
    const std::string packed = Compress(name, text, 100000);
    EXPECT_EQ(packed == text, name == "text");
    std::ofstream(path, std::ios::binary) << packed;
    EXPECT_EQ(ReadLines(path.string()), lines) << name;
    std::ofstream(path, std::ios::binary) << Compress(name, "", 1);
    EXPECT_TRUE(ReadLines(path.string()).empty()) << name;
    EXPECT_EQ(Compress(name, text, 100000), packed) << name;
    std::filesystem::remove(path);
  }
}

}  // namespace
}  // namespace attend
