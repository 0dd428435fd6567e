#include "data/recording_corpus.h"

#include <gmock/gmock.h>

#include <set>

#include "base/random.h"
#include "data/corpus_fixture.h"
#include "media/made_digits.h"

namespace attend {
namespace {

class RecordingCorpusTest : public CorpusTest {
 protected:
  // Writes WAV files of digits, of two rates, and a table beside them; number `damaged` is none.
  std::string WriteTable(int64_t count, int64_t damaged = -1) {
    std::string table;
    for (int64_t i = 0; i < count; ++i) {
      Random random({static_cast<uint64_t>(i)});
      const int64_t digits[] = {i % 10, 3};
      const Sound sound = SoundDigits(digits, i % 2 == 0 ? 8000 : 16000, &random);
      const std::string name = fmt::format("{}.wav", i);
      Write(name, i == damaged ? "RIFF" : EncodeWav(sound));
      table += fmt::format("{}\tab cd {}\n", name, i % 3 == 0 ? "" : "ef");
    }
    return Write("table.tsv", table);
  }

  RecordingCorpus MakeCorpus(const std::string& table, RecordingCorpusOptions options = {}) {
    ThreadPool pool(2);
    options.input.rate = 8000;
    options.input.fft = 200;
    options.input.hop = 80;
    options.input.mels = 20;
    options.around = {{2}, {3}};
    return {ReadRecordings({table}), *vocabulary_, options, &pool};
  }
};

std::vector<float> FramesIn(const Window& window) {
  std::vector<float> all;
  for (int64_t row = 0; row < window.examples->size(); ++row)
    std::ranges::copy((*window.examples)[row].Numbers(kFrameColumn), std::back_inserter(all));
  return all;
}

TEST_F(RecordingCorpusTest, ExamplesAreFramesTextsAndRows) {
  const RecordingCorpus corpus = MakeCorpus(WriteTable(5, /*damaged=*/3));
  ASSERT_EQ(corpus.size(), 4);
  EXPECT_THAT(corpus.LeftOutMessage(), testing::HasSubstr("1 of 5 recordings is left out"));
  EXPECT_THAT(corpus.LeftOutMessage(), testing::HasSubstr("3.wav"));
  const ExampleTable table = corpus.Table(0, 4);
  for (int64_t i = 0; i < 4; ++i) {
    const Sound sound = Resample(ReadSound(corpus.item(i).path), 8000);
    const std::vector<float> frames =
        LogMel(FrameInput{.rate = 8000, .fft = 200, .hop = 80, .mels = 20}).Frames(sound.samples);
    EXPECT_THAT(table[i].Numbers(kFrameColumn), testing::ElementsAreArray(frames));
    std::vector<int32_t> ids = vocabulary_->Encode(corpus.item(i).text);
    ids.insert(ids.begin(), 2);
    ids.push_back(3);
    EXPECT_THAT(table[i].Ids(kTranscriptColumn), testing::ElementsAreArray(ids));
    EXPECT_EQ(table[i].Length(kRowColumn), (table[i].Length(kFrameColumn) + 1) / 2);
    EXPECT_EQ(table[i].Ids(kRowColumn).back(), table[i].Length(kRowColumn) - 1);
    EXPECT_NEAR(corpus.seconds(i), sound.seconds(), 1e-9);
  }
}

// The same epoch has the same masks, another one has others; parts of a window are the window.
TEST_F(RecordingCorpusTest, MasksFollowFromTheEpoch) {
  const std::string table = WriteTable(9);
  RecordingCorpusOptions masked;
  masked.augmentation = {
      .frequency_masks = 2, .frequency_width = 6, .time_masks = 2, .time_width = 20};
  const RecordingCorpus corpus = MakeCorpus(table, masked), plain = MakeCorpus(table);
  const std::vector<float> epoch = FramesIn(corpus.Open(0, {}, {})->Next().make());
  EXPECT_EQ(FramesIn(corpus.Open(0, {}, {})->Next().make()), epoch);
  EXPECT_NE(FramesIn(plain.Open(0, {}, {})->Next().make()), epoch);
  EXPECT_NE(FramesIn(corpus.Open(1, {}, {})->Next().make()), epoch);
  std::vector<float> joined;
  for (const int64_t part : {0, 1, 2})
    std::ranges::copy(FramesIn(corpus.Open(0, {}, {part, 3})->Next().make()),
                      std::back_inserter(joined));
  EXPECT_EQ(joined, epoch);
  std::set<int64_t> lines;
  const Window window = corpus.Open(0, {}, {})->Next().make();
  for (int64_t row = 0; row < window.examples->size(); ++row)
    lines.insert((*window.examples)[row].origin().line);
  EXPECT_EQ(lines.size(), 9);
  EXPECT_THROW(corpus.Open(0, {.number = 1, .cursor = {}}, {}), Error);
}

TEST_F(RecordingCorpusTest, WhatIsTooLongIsLeftOut) {
  const std::string table = WriteTable(4);
  const double longest = [&] {
    const RecordingCorpus all = MakeCorpus(table);
    double most = 0;
    for (int64_t i = 0; i < all.size(); ++i) most = std::max(most, all.seconds(i));
    return most;
  }();
  RecordingCorpusOptions options;
  options.max_seconds = longest - 0.001;
  EXPECT_EQ(MakeCorpus(table, options).size(), 3);
  options = {};
  options.max_rows = 3;
  EXPECT_THROW(MakeCorpus(table, options), Error);
  options = {};
  options.max_tokens = std::ssize(vocabulary_->Encode("ab cd "));
  EXPECT_THAT(MakeCorpus(table, options).LeftOutMessage(), testing::HasSubstr("its text has"));
  options.max_rows = 3;
  options.max_seconds = 0.001;
  options.any_length = true;
  EXPECT_EQ(MakeCorpus(table, options).size(), 4);
}

TEST_F(RecordingCorpusTest, TablesNeedAPathAndATab) {
  for (const std::string line : {"a.wav", "\ttext", ""}) {
    EXPECT_THROW(ReadRecordings({Write("bad.tsv", line.empty() ? "" : line + "\n")}), Error)
        << line;
  }
  const auto items = ReadRecordings({Write("good.tsv", "/a/b.wav\tx\ty\nc.wav\t\n")});
  EXPECT_EQ(items[0].path, "/a/b.wav");
  EXPECT_EQ(items[0].text, "x\ty");
  EXPECT_EQ(items[1].text, "");
  EXPECT_TRUE(items[1].path.is_absolute());
}

}  // namespace
}  // namespace attend
