#include "data/streamed_corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "attend/error.h"
#include "data/corpus_fixture.h"
#include "data/parallel_corpus.h"

namespace attend {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Key = std::pair<int64_t, int64_t>;

// Files and lines in the order in which an epoch's windows hold them.
std::vector<std::vector<Key>> WindowsOf(const StreamedCorpus& corpus, int64_t epoch) {
  std::vector<std::vector<Key>> windows;
  const auto reader = corpus.Open(epoch, {}, {});
  for (bool last = false; !last;) {
    const WindowWork work = reader->Next();
    const Window window = work.make();
    windows.emplace_back();
    for (int64_t i = 0; i < window.examples->size(); ++i) {
      const Origin origin = (*window.examples)[i].origin();
      windows.back().push_back({origin.file, origin.line});
    }
    last = work.last;
  }
  return windows;
}

std::map<Key, int64_t> CountsOf(const StreamedCorpus& corpus, int64_t epoch) {
  std::map<Key, int64_t> counts;
  for (const auto& window : WindowsOf(corpus, epoch)) {
    for (const Key& key : window) ++counts[key];
  }
  return counts;
}

TEST_F(StreamedCorpusTest, HasWhatTheCorpusInMemoryHas) {
  for (const int64_t lines : {100, 0, 1, 57, 230, 3, 3, 64}) AddShard(lines);
  CorpusFilters filters;
  filters.max_length = 8;
  const ParallelCorpus whole(Columns(), filters, 1);
  std::map<Key, IdColumns> expected;
  for (int64_t i = 0; i < whole.examples().size(); ++i) {
    const Example example = whole.examples()[i];
    expected[{example.origin().file, example.origin().line}] = ColumnsOf(example);
  }
  ASSERT_GT(whole.report().too_long.count, 0);
  StreamOptions options;
  options.shuffle_buffer = 50;
  const StreamedCorpus corpus = Stream(options, filters);
  EXPECT_EQ(corpus.digests(), whole.digests());
  const auto reader = corpus.Open(0, {}, {});
  CorpusReport report;
  std::map<Key, IdColumns> found;
  int64_t windows = 0;
  for (bool last = false; !last; ++windows) {
    const WindowWork work = reader->Next();
    const Window window = work.make();
    report.Add(window.report);
    for (int64_t i = 0; i < window.examples->size(); ++i) {
      const Example example = (*window.examples)[i];
      const Origin& origin = example.origin();
      EXPECT_TRUE(found.insert({{origin.file, origin.line}, ColumnsOf(example)}).second);
    }
    last = work.last;
  }
  EXPECT_EQ(found, expected);
  EXPECT_EQ(report.too_long.first.size(), NamedLines::kNamed);
  report.too_long.first = whole.report().too_long.first;  // others come first
  EXPECT_EQ(report, whole.report());
  EXPECT_EQ(windows, (458 + 49) / 50);
  EXPECT_NE(WindowsOf(corpus, 0), WindowsOf(corpus, 1));
}

TEST_F(StreamedCorpusTest, WeightsArePassesAnEpochMixedEvenly) {
  for (const int64_t lines : {400, 400, 100, 200}) AddShard(lines);
  StreamOptions options;
  options.weights = {0.25, 0.25, 3, 1.5};
  options.shuffle_buffer = 160;
  const StreamedCorpus corpus = Stream(options);
  std::map<Key, int64_t> counts;
  for (int64_t epoch = 0; epoch < 4; ++epoch) {
    std::map<int64_t, int64_t> of_file;
    for (const auto& [key, count] : CountsOf(corpus, epoch)) {
      of_file[key.first] += count;
      counts[key] += count;
    }
    EXPECT_NEAR(static_cast<double>(of_file[0] + of_file[1]), 200, 60);
    EXPECT_EQ(of_file[2], 300);
    EXPECT_NEAR(static_cast<double>(of_file[3]), 300, 50);
  }
  // Over four epochs, every line as often as its weight says.
  EXPECT_EQ(counts.size(), 1100u);
  for (const auto& [key, count] : counts)
    EXPECT_EQ(static_cast<double>(count), 4 * options.weights[key.first]);
  // Each window but the last holds its share of each corpus.
  const auto windows = WindowsOf(corpus, 0);
  for (size_t i = 0; i + 1 < windows.size(); ++i) {
    std::map<int64_t, int64_t> of_corpus;
    for (const auto& [file, line] : windows[i]) ++of_corpus[std::max<int64_t>(file, 1)];
    EXPECT_NEAR(static_cast<double>(of_corpus[1]), 40, 20);
    EXPECT_NEAR(static_cast<double>(of_corpus[2]), 60, 15);
    EXPECT_NEAR(static_cast<double>(of_corpus[3]), 60, 15);
  }
}

TEST_F(StreamedCorpusTest, CopiesOfALineAreFarApart) {
  for (const int64_t lines : {1000, 300}) AddShard(lines);
  StreamOptions options;
  for (const double weight : {2.0, 3.0, 3.5}) {
    options.weights = {weight, 1};
    if (weight == 3) options.weights = {1, weight};
    int64_t at = 0, nearest = 1 << 30;
    std::map<Key, int64_t> last;
    for (const auto& window : WindowsOf(Stream(options), 0)) {
      for (const Key& line : window) {
        if (const auto found = last.find(line); found != last.end())
          nearest = std::min(nearest, at - found->second);
        last[line] = at++;
      }
    }
    EXPECT_GT(static_cast<double>(nearest), 0.8 * static_cast<double>(at) / std::ceil(weight));
  }
}

TEST_F(StreamedCorpusTest, MixesShards) {
  for (int i = 0; i < 6; ++i) AddShard(100);
  StreamOptions options;
  options.shuffle_buffer = 40;
  for (const auto& window : WindowsOf(Stream(options), 0)) {
    std::set<int64_t> files;
    for (const auto& [file, line] : window) files.insert(file);
    EXPECT_GE(files.size(), 2u);
    EXPECT_LE(files.size(), 5u);
  }
}

TEST_F(StreamedCorpusTest, WindowsOfOneFileSpanItAndDifferByEpoch) {
  AddShard(6400);
  StreamOptions options;
  options.shuffle_buffer = 640;
  options.log = [](LogLevel, std::string_view message) { ADD_FAILURE() << message; };
  const StreamedCorpus corpus = Stream(options);
  std::set<std::set<Key>> first_epoch;
  for (int64_t epoch = 0; epoch < 2; ++epoch) {
    const auto windows = WindowsOf(corpus, epoch);
    ASSERT_EQ(windows.size(), 10u);
    for (const auto& window : windows) {
      const std::set<Key> lines(window.begin(), window.end());
      EXPECT_EQ(lines.size(), 640u);
      std::set<int64_t> tenths;
      for (const Key& line : lines) tenths.insert(line.second / 640);
      EXPECT_GE(tenths.size(), 4u);
      if (epoch == 0) {
        first_epoch.insert(lines);
      } else {
        EXPECT_FALSE(first_epoch.contains(lines));
      }
    }
  }
}

TEST_F(StreamedCorpusTest, WarnsOfACompressedFileThatIsHardlyShuffled) {
  for (const int64_t lines : {100, 101, 0, 300}) AddShard(lines);
  EXPECT_THAT(Warnings({}, 100), testing::IsEmpty());  // plain segments are enough to mix with
  EXPECT_THAT(Warnings({1, 2, 1, 1}, 100),
              testing::ElementsAre(
                  AllOf(HasSubstr("the 101 lines of"), HasSubstr("cut it into many files"))));
  EXPECT_THAT(Warnings({1, 2, 1, 1}, 101), testing::IsEmpty());
}

TEST_F(StreamedCorpusTest, WarnsOfACompressedFileThatIsReadAloneInTheEnd) {
  for (const int64_t lines : {1000, 332}) AddShard(lines);
  EXPECT_THAT(Warnings({}, 100), testing::IsEmpty());
  for (const int64_t lines : {0, 0, 450}) AddShard(lines);
  EXPECT_THAT(Warnings({}, 100), testing::ElementsAre(HasSubstr("the 450 lines of")));
}

TEST_F(StreamedCorpusTest, WarnsOfFewCompressedFilesThatAreAlwaysReadTogether) {
  for (const int64_t lines : {0, 400, 400, 0, 400, 400}) AddShard(lines);
  EXPECT_THAT(Warnings({}, 100), testing::ElementsAre(HasSubstr("the 400 lines of")));
  for (const int64_t lines : {0, 400}) AddShard(lines);
  EXPECT_THAT(Warnings({}, 100), testing::IsEmpty());
}

TEST_F(StreamedCorpusTest, SamplesAnewEachEpochAndTheSameForASeed) {
  AddShard(60);
  StreamOptions options;
  options.sampling = 0.3;
  const auto ids = [&](uint64_t seed, int64_t epoch) {
    options.seed = seed;
    const StreamedCorpus corpus = Stream(options);
    const Window window = corpus.Open(epoch, {}, {})->Next().make();
    std::vector<IdColumns> all;
    for (int64_t i = 0; i < window.examples->size(); ++i) {
      all.push_back(ColumnsOf((*window.examples)[i]));
      const std::vector<int32_t>& source = all.back()[0];
      EXPECT_EQ(vocabulary_->Decode(source), "abcdef cab" + std::string(i % 7, 'a'));
      EXPECT_EQ(source.back(), 3);
    }
    return all;
  };
  EXPECT_EQ(ids(1, 0), ids(1, 0));
  EXPECT_NE(ids(1, 0), ids(1, 1));
  EXPECT_NE(ids(1, 0), ids(2, 0));
}

TEST_F(StreamedCorpusTest, NamesFilesOfDifferentLength) {
  AddShard(10);
  source_.push_back(Write("u.gz", "a\nb\n"));
  target_.push_back(Write("v.zst", "a\nb\nc\n"));
  EXPECT_THAT(Complaint(), AllOf(HasSubstr("u.gz' has 2 lines"), HasSubstr("v.zst' has 3")));
}

TEST_F(StreamedCorpusTest, NamesDamagedFilesAndLinesTooLong) {
  for (const std::string ending : {".gz", ".zst"}) {
    source_ = {Write("cut" + ending, std::string(5000, 'a') + "\nb\n")};
    target_ = {Write("t", "a\nb\n")};
    EXPECT_EQ(Complaint(), "");
    std::filesystem::resize_file(source_[0], std::filesystem::file_size(source_[0]) - 9);
    EXPECT_THAT(Complaint(), AllOf(HasSubstr(source_[0]), HasSubstr("cut short")));
  }
  source_ = {Write("long", "a\n" + std::string(1 << 21, 'b') + "\n")};
  EXPECT_THAT(Complaint(), HasSubstr("long:2: the line is longer than"));
}

TEST_F(StreamedCorpusTest, NamesAFileThatIsWrittenTo) {
  std::string lines;
  for (int i = 0; i < 300; ++i) lines += "ab\n";
  source_ = {Write("s.gz", lines)};
  target_ = {Write("t", lines)};
  StreamOptions options;
  options.shuffle_buffer = 100;
  const auto complaint = [&](int windows, const std::string& text) {
    Write("t", lines);
    const StreamedCorpus corpus = Stream(options);
    const auto reader = corpus.Open(0, {}, {});
    for (int i = 0; i < windows; ++i) reader->Next();
    Write("t", text);
    if (text.size() == lines.size()) {
      const auto time = std::filesystem::last_write_time(target_[0]);
      std::filesystem::last_write_time(target_[0], time + std::chrono::milliseconds(1));
    }
    try {
      reader->Next();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInput);
      return std::string(error.what());
    }
    return std::string();
  };
  std::string edited = lines;
  edited[1] = 'c';
  for (const std::string& text : {edited, lines + lines, std::string("ab\n"), std::string()}) {
    for (int windows = 0; windows <= 3; ++windows)
      EXPECT_THAT(complaint(windows, text), HasSubstr("t' was written to")) << windows;
  }
}

TEST_F(StreamedCorpusTest, RefusesEmptyTextAndWeightsThatDoNotFit) {
  AddShard(0);
  EXPECT_THAT(Complaint(), HasSubstr("no example"));
  EXPECT_THROW(Stream({1, {1, 2}}), Error);
}

}  // namespace
}  // namespace attend
