// Text in a folder of its own, with a vocabulary, for tests of corpora.
#ifndef ATTEND_DATA_CORPUS_FIXTURE_H_
#define ATTEND_DATA_CORPUS_FIXTURE_H_

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "attend/error.h"
#include "data/batch_stream.h"
#include "data/example_fixture.h"
#include "data/streamed_corpus.h"
#include "text/vocabulary_trainer.h"

namespace attend {

class CorpusTest : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    folder_ = testing::TempDir() + test.test_suite_name() + "_" + test.name() + "/";
    std::filesystem::create_directories(folder_);
    VocabularyOptions options;
    options.type = VocabularyType::kBpe;
    options.size = 40;
    const std::string text = Write("vocabulary", "a b c d e f\nab cd ef abc\nbad cab fed abcdef\n");
    vocabulary_ = Vocabulary::FromBytes(TrainVocabulary({text}, options, 1, NoLog()), "test");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Plain, or packed as the name says.
  std::string Write(const std::string& name, const std::string& bytes) {
    const std::string path = folder_ + name;
    std::string written = bytes;
    if (name.ends_with(".gz")) {
      gzFile file = gzopen(path.c_str(), "wb");
      gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
      gzclose(file);
      return path;
    }
    if (name.ends_with(".zst")) {
      written.resize(ZSTD_compressBound(bytes.size()));
      written.resize(ZSTD_compress(written.data(), written.size(), bytes.data(), bytes.size(), 3));
    }
    std::ofstream(path, std::ios::binary) << written;
    return path;
  }

  std::string folder_;
  std::shared_ptr<const Vocabulary> vocabulary_;
};

class StreamedCorpusTest : public CorpusTest {
 protected:
  // A pair of shards with `lines` lines of letters, packed in turn as nothing, gzip and zstd.
  void AddShard(int64_t lines) {
    const std::string endings[] = {"", ".gz", ".zst"};
    const std::string name =
        std::to_string(source_.size()) + endings[source_.size() % std::size(endings)];
    std::string source, target;
    for (int64_t line = 0; line < lines; ++line) {
      source += "abcdef cab" + std::string(line % 7, 'a') + (line % 5 == 0 ? "\r\n" : "\n");
      target += "fed " + std::string(1 + line % 9, 'b') + "\n";
    }
    source_.push_back(Write("s" + name, source));
    target_.push_back(Write("t" + name, target));
  }
  std::vector<CorpusColumn> Columns() {
    return {SourceColumn(source_, vocabulary_), TargetColumn(target_, vocabulary_)};
  }
  StreamedCorpus Stream(const StreamOptions& options = {}, const CorpusFilters& filters = {}) {
    return StreamedCorpus(Columns(), filters, options, 2);
  }
  std::vector<std::string> Warnings(const std::vector<double>& weights, int64_t shuffle_buffer) {
    std::vector<std::string> warnings;
    Stream({1, weights, shuffle_buffer, 0, {}, [&](LogLevel, std::string_view message) {
              warnings.emplace_back(message);
            }});
    return warnings;
  }
  std::string Complaint() {
    try {
      const StreamedCorpus corpus = Stream();
      BatchStream stream(&corpus, {});
      while (stream.position().epoch == 0) stream.Next();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInput);
      return error.what();
    }
    return "";
  }

  std::vector<std::string> source_, target_;
};

}  // namespace attend

#endif  // ATTEND_DATA_CORPUS_FIXTURE_H_
