#include "data/streamed_documents.h"

#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <set>

#include "attend/error.h"
#include "data/batch_stream.h"
#include "data/corpus_fixture.h"
#include "data/document_corpus.h"

namespace attend {
namespace {

using testing::HasSubstr;

constexpr DocumentStreamOptions kSmall{.seed = 3, .shuffle_buffer = 150};

class StreamedDocumentsTest : public CorpusTest {
 protected:
  // Documents of `lengths` lines, which all differ.
  std::string TextOf(const std::vector<int>& lengths) {
    std::string text;
    for (const int length : lengths) {
      for (int line = 0; line < length; ++line) {
        for (int number = ++line_; number > 0; number /= 6)
          text += static_cast<char>('a' + number % 6);
        text += line % 3 == 0 ? " abc\n" : "\n";
      }
      text += "\n";
    }
    return text;
  }
  // Short documents and long ones, plain and compressed.
  std::vector<std::string> Files() {
    return {Write("a.txt", TextOf({3, 70, 1, 200, 5, 5, 5, 5, 40})),
            Write("b.txt.gz", TextOf({50, 300, 20, 90})), Write("c.txt", "\n\n"),
            Write("d.txt.zst", TextOf({1, 1, 1, 150, 30, 30, 30})),
            Write("e.txt", TextOf({2}) + "last")};
  }
  StreamedDocuments Stream(const std::vector<std::string>& files,
                           const ContextOptions& context) const {
    return StreamedDocuments(files, vocabulary_, context, kSmall, 2);
  }

 private:
  int line_ = 0;
};

// How often each token comes, but for bos.
std::map<int32_t, int64_t> TokensOf(const ExampleTable& table) {
  std::map<int32_t, int64_t> counts;
  for (int64_t row = 0; row < table.size(); ++row)
    for (const int32_t id : table[row].Ids(0).subspan(1)) ++counts[id];
  return counts;
}

std::vector<Window> Epoch(const StreamedDocuments& corpus, int64_t epoch) {
  std::vector<Window> windows;
  const auto reader = corpus.Open(epoch, {}, {});
  while (true) {
    const WindowWork work = reader->Next();
    EXPECT_EQ(work.epoch, epoch);
    windows.push_back(work.make());
    if (work.last) return windows;
  }
}

TEST_F(StreamedDocumentsTest, EveryEpochHasEveryTokenOnce) {
  const std::vector<std::string> files = Files();
  for (const DocumentEnd end : {DocumentEnd::kBlankLine, DocumentEnd::kFile}) {
    const ContextOptions context{.context_tokens = 9, .documents = end};
    const DocumentCorpus whole(files, vocabulary_, context, 1);
    const StreamedDocuments corpus = Stream(files, context);
    std::set<std::vector<std::string>> orders;
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      const std::vector<Window> windows = Epoch(corpus, epoch);
      EXPECT_GE(windows.size(), 5u);
      std::map<int32_t, int64_t> tokens;
      CorpusReport report;
      std::vector<std::string> order;
      for (const Window& window : windows) {
        EXPECT_LE(window.report.lines, 150 + 128);
        report.Add(window.report);
        for (const auto& [id, count] : TokensOf(*window.examples)) tokens[id] += count;
        order.push_back(corpus.Where((*window.examples)[0].origin()));
      }
      EXPECT_EQ(tokens, TokensOf(whole.documents().Contexts()));
      EXPECT_EQ(report.lines, whole.report().lines);
      EXPECT_EQ(report.kept, whole.report().kept);
      EXPECT_EQ(report.tokens, whole.report().tokens);
      orders.insert(order);
    }
    EXPECT_EQ(orders.size(), 3u);
  }
}

// Documents of fewer lines than a block are whole in their window.
TEST_F(StreamedDocumentsTest, KeepsShortDocumentsWhole) {
  std::vector<int> lengths;
  for (int i = 0; i < 100; ++i) lengths.push_back(1 + i % 60);
  const ContextOptions context{.context_tokens = 5000, .across_documents = false};
  const StreamedDocuments corpus = Stream({Write("text", TextOf(lengths))}, context);
  int64_t documents = 0;
  for (const Window& window : Epoch(corpus, 0)) {
    int64_t cut = 0;
    for (int64_t row = 0; row < window.examples->size(); ++row) {
      const std::span<const int32_t> ids = (*window.examples)[row].Ids(0);
      const auto ends = std::ranges::count(ids, vocabulary_->special_ids().eos);
      documents += ends;
      cut += 1 - ends;
    }
    EXPECT_LE(cut, 1);  // the first context's length is drawn
  }
  EXPECT_EQ(documents, 100);
}

TEST_F(StreamedDocumentsTest, ResumesAtEveryPosition) {
  const std::vector<std::string> files = Files();
  const ContextOptions context{.context_tokens = 30};
  const StreamedDocuments corpus = Stream(files, context);
  BatchOptions batching;
  batching.limits.tokens = 400;
  BatchStream whole(&corpus, batching);
  std::vector<DataPosition> positions;
  std::vector<std::vector<int32_t>> expected;
  const auto ids_of = [](const Batch& batch) {
    std::vector<int32_t> ids;
    for (const Example example : batch.examples())
      ids.insert(ids.end(), example.Ids(0).begin(), example.Ids(0).end());
    return ids;
  };
  while (whole.position().epoch < 2) {
    positions.push_back(whole.position());
    expected.push_back(ids_of(whole.Next()));
  }
  ASSERT_GT(positions.size(), 20u);
  for (size_t i = 0; i < positions.size(); ++i) {
    batching.worker_threads = 1 + static_cast<int64_t>(i) % 3;
    const StreamedDocuments again = Stream(files, context);
    BatchStream resumed(&again, batching, positions[i]);
    for (size_t next = i; next < positions.size(); ++next)
      ASSERT_EQ(ids_of(resumed.Next()), expected[next]) << "from " << i;
  }
}

TEST_F(StreamedDocumentsTest, RefusesWhatItCantRead) {
  EXPECT_THROW(Stream({Write("empty", "\n \n")}, {}), Error);
  const std::string path = Write("text", TextOf({10, 200, 90}));
  const StreamedDocuments corpus = Stream({path}, {});
  EXPECT_THROW(corpus.Open(0, {1, {{"block", 99}}}, {}), Error);
  std::ofstream(path, std::ios::app) << "more\n";
  try {
    Epoch(corpus, 0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("was written to since training started"));
  }
}

}  // namespace
}  // namespace attend
