// Where readers of streamed corpora stand, what parts they read, and what they hold open.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <map>
#include <set>

#include "attend/error.h"
#include "data/corpus_fixture.h"
#include "data/peers.h"

namespace attend {
namespace {

using testing::HasSubstr;

std::vector<IdColumns> IdsOf(const Batch& batch) {
  std::vector<IdColumns> ids;
  for (const Example example : batch.examples()) ids.push_back(ColumnsOf(example));
  return ids;
}

TEST_F(StreamedCorpusTest, ResumesAtEveryPosition) {
  for (const int64_t lines : {150, 0, 1, 13, 40, 3, 70, 16}) AddShard(lines);
  StreamOptions options;
  options.weights = {1, 1, 1, 2.5, 1, 0.5, 1, 2.5};
  options.shuffle_buffer = 32;
  options.sampling = 0.2;
  const StreamedCorpus corpus = Stream(options);
  BatchOptions batching;
  batching.limits.tokens = 60;
  BatchStream whole(&corpus, batching);
  std::vector<DataPosition> positions;
  std::vector<std::vector<IdColumns>> expected;
  while (whole.position().epoch < 3) {
    positions.push_back(whole.position());
    expected.push_back(IdsOf(whole.Next()));
  }
  ASSERT_GT(positions.size(), 50u);
  for (size_t i = 0; i < positions.size(); ++i) {
    batching.worker_threads = 1 + static_cast<int64_t>(i) % 9;
    const StreamedCorpus again = Stream(options);
    BatchStream resumed(&again, batching, positions[i]);
    for (size_t next = i; next < positions.size(); ++next)
      ASSERT_EQ(IdsOf(resumed.Next()), expected[next]) << "from " << i;
    EXPECT_EQ(resumed.position(), whole.position());
  }
}

TEST_F(StreamedCorpusTest, PartsOfAWindowMakeUpTheWindow) {
  for (const int64_t lines : {150, 1, 40, 3}) AddShard(lines);
  source_.push_back(Write("bad", "abc\n\xff\n\xff\n"));
  target_.push_back(Write("bad-target", "abc\nfed\nfed\n"));
  StreamOptions options;
  options.weights = {1, 2.5, 0.5, 3, 1};
  options.shuffle_buffer = 64;
  options.sampling = 0.2;
  CorpusFilters filters;
  filters.max_length = 8;
  const StreamedCorpus corpus = Stream(options, filters);
  std::vector<std::string> malformed;
  for (const int64_t count : {1, 3, 100}) {
    const auto reader = corpus.Open(0, {}, {});
    std::vector<std::unique_ptr<WindowReader>> readers;
    for (int64_t i = 0; i < count; ++i) readers.push_back(corpus.Open(0, {}, {i, count}));
    for (int64_t epoch = 0; epoch < 2;) {
      const WindowWork work = reader->Next();
      const Window whole = work.make();
      if (count == 1 && epoch == 0) {
        for (const std::string& line : whole.report.malformed.first) malformed.push_back(line);
      }
      std::vector<std::string> parts;
      for (const auto& each : readers) {
        const WindowWork part = each->Next();
        EXPECT_EQ(part.start, work.start);
        EXPECT_EQ(part.last, work.last);
        parts.push_back(BytesOf(part.make()));
      }
      const Window joined = JoinParts(parts);
      EXPECT_EQ(joined.report, whole.report);
      ASSERT_EQ(joined.examples->size(), whole.examples->size());
      for (int64_t i = 0; i < whole.examples->size(); ++i) {
        const Example found = (*joined.examples)[i], expected = (*whole.examples)[i];
        EXPECT_EQ(found.origin(), expected.origin());
        EXPECT_EQ(ColumnsOf(found), ColumnsOf(expected));
      }
      epoch += work.last ? 1 : 0;
    }
  }
  EXPECT_THAT(malformed, testing::UnorderedElementsAre(testing::EndsWith("bad:2"),
                                                       testing::EndsWith("bad:3")));
}

// Files that are gone are missed by the readers of the parts that have their lines, and no others.
TEST_F(StreamedCorpusTest, AReaderReadsTheFilesOfItsPartAlone) {
  for (int i = 0; i < 8; ++i) AddShard(60);
  const StreamedCorpus corpus = Stream();
  std::set<int64_t> files;
  const Window first = corpus.Open(0, {}, {0, 2})->Next().make();
  for (int64_t i = 0; i < first.examples->size(); ++i)
    files.insert((*first.examples)[i].origin().file);
  ASSERT_EQ(files.size(), 4u);  // of the one window, four are open at a time
  for (int64_t file = 0; file < 8; ++file) {
    if (files.contains(file)) continue;
    std::filesystem::remove(source_[file]);
    std::filesystem::remove(target_[file]);
  }
  EXPECT_EQ(corpus.Open(0, {}, {0, 2})->Next().make().examples->size(), 240);
  EXPECT_THROW(corpus.Open(0, {}, {1, 2})->Next(), Error);
}

// The middle of a segment is reached from its beginning.
TEST_F(StreamedCorpusTest, PartsGoOnInTheMiddle) {
  for (const int64_t lines : {300, 200, 100}) AddShard(lines);
  StreamOptions options;
  options.weights = {1, 2.5, 3};
  options.shuffle_buffer = 70;
  const StreamedCorpus corpus = Stream(options);
  const WindowPart part{1, 3};
  const auto reader = corpus.Open(0, {}, part);
  for (int i = 0; i < 4; ++i) reader->Next();
  WindowWork work = reader->Next();
  const auto resumed = corpus.Open(0, work.start, part);
  for (int i = 0; i < 8; ++i, work = reader->Next())
    EXPECT_EQ(BytesOf(resumed->Next().make()), BytesOf(work.make())) << i;
}

TEST_F(StreamedCorpusTest, RefusesPositionsThatAreNotItsOwn) {
  for (const int64_t lines : {40, 30, 20, 50, 60, 10}) AddShard(lines);
  StreamOptions options;
  options.shuffle_buffer = 37;
  const StreamedCorpus corpus = Stream(options);
  const auto reader = corpus.Open(0, {}, {});
  for (int i = 0; i < 3; ++i) reader->Next();
  const WindowStart start = reader->Next().start;
  EXPECT_NO_THROW(corpus.Open(0, start, {}));
  WindowStart richer = start;
  richer.cursor[0]["open"][0]["offsets"] = {1, 2};  // a member that is not known is left alone
  EXPECT_NO_THROW(corpus.Open(0, richer, {}));
  for (const auto& [path, values] :
       std::map<std::string, std::vector<Json>>{{"", {{1}, Json::array(), "x", 3, start.cursor[0]}},
                                                {"/0", {{1}, "x", 3}},
                                                {"/0/next", {-1, 99, 0, "x"}},
                                                {"/0/turn", {-1, 4, 99, "x"}},
                                                {"/0/read", {-1, 0, 110, 112, 1000000, "x"}},
                                                {"/0/open", {Json::array(), "x", 3}},
                                                {"/0/open/1/pass", {-1, 6, 99, "x"}},
                                                {"/0/open/1/line", {-1, 1000000, "x"}}}) {
    for (const Json& value : values) {
      WindowStart wrong = start;
      wrong.cursor[Json::json_pointer(path)] = value;
      try {
        corpus.Open(0, wrong, {});
        FAIL() << path << " " << value;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kInput);
        EXPECT_THAT(error.what(), HasSubstr("the data position is not one of this corpus"));
      }
    }
  }
}

// Of a corpus with a small weight, windows go through many segments for their lines.
TEST_F(StreamedCorpusTest, FewFilesAreOpenAtATime) {
  AddShard(6400);
  StreamOptions options;
  options.weights = {0.25};
  options.shuffle_buffer = 640;
  const StreamedCorpus corpus = Stream(options);
  const auto reader = corpus.Open(0, {}, {});
  const std::filesystem::directory_iterator open("/proc/self/fd"), none;
  rlimit before{}, low{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  low = before;
  low.rlim_cur = std::distance(open, none) + 24;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_NO_THROW({
    while (!reader->Next().last) continue;
  });
  setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace attend
