#include "data/denoised_corpus.h"

#include <gmock/gmock.h>

#include "data/corpus_fixture.h"
#include "data/parallel_corpus.h"
#include "text/sentinels.h"

namespace attend {
namespace {

class DenoisedCorpusTest : public CorpusTest {
 protected:
  void SetUp() override {
    CorpusTest::SetUp();
    VocabularyOptions options;
    options.type = VocabularyType::kBpe;
    options.size = 60;
    options.sentinels = 20;
    vocabulary_ = Vocabulary::FromBytes(
        TrainVocabulary({folder_ + "vocabulary"}, options, 1, NoLog()), "test");
    std::string source, target, text;
    for (int i = 0; i < 40; ++i) {
      source += "abc fed" + std::string(i % 5, 'a') + "\n";
      target += "bad\n";
      text += "abcdef bad cab fed ab cd ef abc fed abcdef bad ef cd cab ab fed bad abc" +
              std::string(i % 7, 'b') + "\n";
    }
    pairs_ = {Write("source", source), Write("target", target)};
    text_ = Write("text", text);
  }

  std::vector<CorpusColumn> Columns() {
    return {SourceColumn({pairs_[0], text_}, vocabulary_),
            TargetColumn({pairs_[1], text_}, vocabulary_)};
  }
  std::shared_ptr<const LineCorpus> Lines(bool streamed, int64_t max_length = 256) {
    const CorpusFilters filters{.max_length = max_length, .first_text = 1};
    if (!streamed) return std::make_shared<const ParallelCorpus>(Columns(), filters, 1);
    return std::make_shared<const StreamedCorpus>(
        Columns(), filters, StreamOptions{.weights = {1, 2}, .shuffle_buffer = 17}, 1);
  }
  DenoisedCorpus Denoised(const std::shared_ptr<const LineCorpus>& lines, uint64_t seed = 1) {
    return {lines, 1, std::make_shared<const Denoising>(DenoisingOptions{}, vocabulary_, ""), seed};
  }
  // What each of an epoch's windows has.
  static std::vector<std::vector<IdColumns>> Windows(const ExampleSource& source, int64_t epoch,
                                                     const WindowStart& start = {}) {
    std::vector<std::vector<IdColumns>> windows;
    const auto reader = source.Open(epoch, start, {});
    for (bool last = false; !last;) {
      const WindowWork work = reader->Next();
      last = work.last;
      const Window window = work.make();
      windows.emplace_back();
      for (int64_t row = 0; row < window.examples->size(); ++row)
        windows.back().push_back(ColumnsOf((*window.examples)[row]));
    }
    return windows;
  }

  std::vector<std::string> pairs_;
  std::string text_;
};

TEST_F(DenoisedCorpusTest, PairsStayAndTextGetsNoise) {
  const auto lines = Lines(false);
  const DenoisedCorpus corpus = Denoised(lines);
  const std::vector<IdColumns> plain = Windows(*lines, 0)[0], noised = Windows(corpus, 0)[0];
  ASSERT_EQ(noised.size(), 80);
  const std::vector<int32_t> sentinels = SentinelIds(*vocabulary_);
  const auto eos = static_cast<int32_t>(vocabulary_->special_ids().eos),
             bos = static_cast<int32_t>(vocabulary_->special_ids().bos);
  for (size_t row = 0; row < 80; ++row) {
    if (row < 40) {
      EXPECT_EQ(noised[row], plain[row]);
      continue;
    }
    const auto &source = noised[row][0], &target = noised[row][1];
    EXPECT_EQ(source.back(), eos);
    EXPECT_EQ(target.front(), bos);
    EXPECT_EQ(target[1], sentinels[0]);
    EXPECT_EQ(target.back(), eos);
    // All that the text had and no more, but for the marks.
    std::vector<int32_t> both(source.begin(), source.end() - 1), text(plain[row][0]);
    both.insert(both.end(), target.begin() + 1, target.end() - 1);
    std::erase_if(both, [&](int32_t id) { return std::ranges::count(sentinels, id) > 0; });
    text.pop_back();
    EXPECT_THAT(both, testing::UnorderedElementsAreArray(text));
    EXPECT_LT(source.size(), plain[row][0].size());
  }
}

TEST_F(DenoisedCorpusTest, NoiseFollowsFromSeedEpochAndExample) {
  for (const bool streamed : {false, true}) {
    const auto lines = Lines(streamed);
    const DenoisedCorpus corpus = Denoised(lines);
    EXPECT_EQ(Windows(corpus, 3), Windows(Denoised(lines), 3));
    EXPECT_NE(Windows(corpus, 3), Windows(corpus, 4));
    EXPECT_NE(Windows(corpus, 3), Windows(Denoised(lines, 2), 3));
  }
  const auto lines = std::make_shared<const ParallelCorpus>(
      std::vector{SourceColumn({pairs_[0], text_}, vocabulary_),
                  TargetColumn({pairs_[1], text_}, vocabulary_)},
      CorpusFilters{.first_text = 1}, 1);
  const auto judged = [&](uint64_t seed) {
    std::vector<IdColumns> rows;
    const ExampleTable table = Denoised(lines, seed).AddNoise(lines->examples());
    for (int64_t row = 0; row < table.size(); ++row) rows.push_back(ColumnsOf(table[row]));
    return rows;
  };
  EXPECT_EQ(judged(1), judged(1));
  EXPECT_NE(judged(1), judged(2));
  EXPECT_NE(judged(1), Windows(Denoised(lines), 0)[0]);
}

// Equal lines of a text do not get equal noise, a line that comes twice in an epoch neither.
TEST_F(DenoisedCorpusTest, CopiesGetNoiseOfTheirOwn) {
  const auto lines = Lines(true);
  std::set<IdColumns> different;
  int64_t count = 0;
  for (const auto& window : Windows(Denoised(lines), 0)) {
    for (const IdColumns& example : window) {
      if (example[1][1] != SentinelIds(*vocabulary_)[0]) continue;
      different.insert(example);
      ++count;
    }
  }
  EXPECT_EQ(count, 80);
  EXPECT_GT(different.size(), 45);  // there are 40 lines
}

TEST_F(DenoisedCorpusTest, AReaderGoesOnWhereOneStopped) {
  const auto lines = Lines(true);
  const DenoisedCorpus corpus = Denoised(lines);
  EXPECT_FALSE(corpus.in_parts());
  const auto windows = Windows(corpus, 2);
  ASSERT_GT(windows.size(), 3);
  const auto reader = corpus.Open(2, {}, {});
  reader->Next();
  reader->Next();
  const WindowStart third = reader->Next().start;
  const auto rest = Windows(corpus, 2, third);
  EXPECT_EQ(rest, std::vector(windows.begin() + 2, windows.end()));
}

TEST_F(DenoisedCorpusTest, LongLinesOfTextAreCutAndPairsDropped) {
  std::string source, target, text;
  for (int i = 0; i < 10; ++i) {
    source += std::string(10, 'a') + "\n";
    target += "b\n";
    text += "abcdefab" + std::string(i, 'f') + "\n\n";
  }
  pairs_ = {Write("source", source), Write("target", target)};
  text_ = Write("text", text);
  for (const bool streamed : {false, true}) {
    const auto lines = Lines(streamed, 4);
    int64_t texts = 0, tokens = 0, expected = 0;
    for (const auto& window : Windows(*lines, 0)) {
      for (const IdColumns& example : window) {
        ++texts;
        EXPECT_LE(example[0].size(), 5);
        EXPECT_EQ(std::vector(example[0].begin(), example[0].end() - 1),
                  std::vector(example[1].begin() + 1, example[1].end() - 1));
        tokens += std::ssize(example[0]) - 1;
      }
    }
    for (int i = 0; i < 10; ++i)
      expected += std::ssize(vocabulary_->Encode("abcdefab" + std::string(i, 'f')));
    EXPECT_EQ(tokens, expected * (streamed ? 2 : 1));
    EXPECT_GT(texts, 10);
  }
}

}  // namespace
}  // namespace attend
