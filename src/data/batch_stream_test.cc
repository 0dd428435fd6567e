#include "data/batch_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <set>

#include "attend/error.h"
#include "base/random.h"
#include "data/batch_plan.h"
#include "data/parallel_corpus.h"
#include "text/vocabulary_trainer.h"

namespace attend {
namespace {

// Lengths drawn at random; an example's first id is its index, so that batches can be told apart.
class MadeUpSource : public ExampleSource {
 public:
  explicit MadeUpSource(int64_t size, int64_t fails_at = -1) : fails_at_(fails_at) {
    Random random{7};
    for (int64_t i = 0; i < size; ++i) {
      const auto length = static_cast<int64_t>(1 + random.Below(30));
      lengths_.push_back(
          {length, std::max<int64_t>(1, length + static_cast<int64_t>(random.Below(7)) - 3)});
    }
  }
  const std::vector<std::string>& column_names() const override { return names_; }
  int64_t size() const override { return std::ssize(lengths_); }
  Example Get(int64_t index, int64_t /*epoch*/) const override {
    if (index == fails_at_) throw Error(ErrorKind::kInput, "this example is broken");
    Example example{index, {}};
    for (const int64_t length : lengths_[index]) {
      example.columns.emplace_back(length, static_cast<int32_t>(index));
    }
    return example;
  }
  std::vector<int64_t> Lengths(int64_t index) const override { return lengths_[index]; }

 private:
  std::vector<std::string> names_ = {"source", "target"};
  std::vector<std::vector<int64_t>> lengths_;
  int64_t fails_at_;
};

using Signature = std::vector<int64_t>;

Signature SignatureOf(const Batch& batch) {
  Signature signature = {batch.epoch, batch.sequence};
  for (const Example& example : batch.examples) signature.push_back(example.line);
  return signature;
}

std::vector<Signature> Take(BatchStream* stream, int64_t count) {
  std::vector<Signature> taken;
  for (int64_t i = 0; i < count; ++i) taken.push_back(SignatureOf(stream->Next()));
  return taken;
}

BatchOptions Small() {
  BatchOptions options;
  options.batch_tokens = 120;
  return options;
}

TEST(BatchStream, HasEveryExampleOnceAnEpochWithinTheBound) {
  const MadeUpSource source(1000);
  for (const int64_t max_sentences : {0, 3}) {
    BatchOptions options = Small();
    options.max_sentences = max_sentences;
    BatchStream stream(&source, options);
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      std::multiset<int64_t> seen;
      for (int64_t left = stream.batches_in_epoch(); left > 0; --left) {
        const Batch batch = stream.Next();
        EXPECT_EQ(batch.epoch, epoch);
        size_t longest = 0;
        for (const Example& example : batch.examples) {
          seen.insert(example.line);
          for (const auto& column : example.columns) longest = std::max(longest, column.size());
        }
        EXPECT_LE(longest * batch.examples.size(), 120u);
        if (max_sentences > 0) {
          EXPECT_LE(std::ssize(batch.examples), max_sentences);
        }
      }
      EXPECT_EQ(seen.size(), 1000u);
      EXPECT_EQ(std::set<int64_t>(seen.begin(), seen.end()).size(), 1000u);
    }
  }
}

TEST(BatchStream, AnExampleOverTheBoundStandsAlone) {
  const MadeUpSource source(50);
  BatchOptions options = Small();
  options.batch_tokens = 1;
  BatchStream stream(&source, options);
  EXPECT_EQ(stream.batches_in_epoch(), 50);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(stream.Next().examples.size(), 1u);
}

TEST(BatchStream, OrderDoesNotDependOnWorkersOrPrefetch) {
  const MadeUpSource source(500);
  BatchStream one(&source, Small());
  const std::vector<Signature> expected = Take(&one, 3 * one.batches_in_epoch());
  for (const int64_t workers : {2, 4}) {
    for (const int64_t prefetch : {1, 3, 1000}) {
      BatchOptions options = Small();
      options.worker_threads = workers;
      options.prefetch = prefetch;
      BatchStream stream(&source, options);
      EXPECT_EQ(Take(&stream, std::ssize(expected)), expected) << workers << " " << prefetch;
    }
  }
}

TEST(BatchStream, EpochsAndSeedsDiffer) {
  const MadeUpSource source(5000);
  BatchOptions options;
  options.batch_tokens = 500;
  const BatchPlanner planner(source, options);
  BatchOptions other = options;
  other.seed = 2;
  const auto first = planner.Epoch(0);
  EXPECT_EQ(first, planner.Epoch(0));
  EXPECT_NE(first, planner.Epoch(1));
  EXPECT_NE(first, BatchPlanner(source, other).Epoch(0));
  // Composition varies too: few batches of one epoch are batches of the next.
  std::set<std::set<int64_t>> composition;
  for (const auto& batch : first) composition.insert({batch.begin(), batch.end()});
  int64_t same = 0;
  for (const auto& batch : planner.Epoch(1))
    same += composition.contains({batch.begin(), batch.end()});
  EXPECT_LT(same, std::ssize(first) / 20);
}

TEST(BatchStream, ResumesAtEveryPosition) {
  const MadeUpSource source(60);
  BatchStream whole(&source, Small());
  const int64_t count = 3 * whole.batches_in_epoch();
  std::vector<DataPosition> positions;
  std::vector<Signature> expected;
  for (int64_t i = 0; i < count; ++i) {
    positions.push_back(whole.position());
    expected.push_back(SignatureOf(whole.Next()));
  }
  for (int64_t i = 0; i < count; ++i) {
    BatchOptions options = Small();
    options.worker_threads = 1 + i % 3;
    BatchStream resumed(&source, options, positions[i]);
    EXPECT_EQ(resumed.position(), positions[i]);
    const std::vector<Signature> rest(expected.begin() + i, expected.end());
    EXPECT_EQ(Take(&resumed, count - i), rest) << "from " << i;
  }
  // The end of an epoch is the start of the next.
  DataPosition end = positions[0];
  while (positions[end.sequence].epoch == 0) end = {0, end.batch_in_epoch + 1, end.sequence + 1};
  BatchStream next(&source, Small(), end);
  EXPECT_EQ(SignatureOf(next.Next()), expected[end.sequence]);
}

TEST(BatchStream, RefusesAPositionBehindTheEnd) {
  const MadeUpSource source(60);
  EXPECT_THROW(BatchStream(&source, Small(), DataPosition{0, 100000, 100000}), Error);
  EXPECT_THROW(BatchStream(&source, Small(), DataPosition{0, -1, 0}), Error);
  const MadeUpSource nothing(0);
  EXPECT_THROW(BatchStream(&nothing, Small()), Error);
}

TEST(BatchStream, PassesOnWhatAWorkerThrowsAtItsPlace) {
  const MadeUpSource good(60), broken(60, 17);
  BatchOptions options = Small();
  options.worker_threads = 4;
  BatchStream expected(&good, options), stream(&broken, options);
  while (true) {
    const Batch batch = expected.Next();
    const bool has_it = std::any_of(batch.examples.begin(), batch.examples.end(),
                                    [](const Example& example) { return example.line == 17; });
    if (has_it) break;
    EXPECT_EQ(SignatureOf(stream.Next()), SignatureOf(batch));
  }
  EXPECT_THROW(stream.Next(), Error);
  EXPECT_THROW(stream.Next(), Error);  // and again, rather than hang
}

TEST(BatchStream, EndsQuietlyInTheMiddle) {
  const MadeUpSource source(300);
  for (int i = 0; i < 50; ++i) {
    BatchOptions options = Small();
    options.worker_threads = 1 + i % 4;
    BatchStream stream(&source, options);
    Take(&stream, i % 5);
  }
}

TEST(BatchesByLength, CoversAllAndSorts) {
  const MadeUpSource source(300);
  const auto batches = BatchesByLength(source, Small());
  std::vector<int64_t> order;
  for (const auto& batch : batches) order.insert(order.end(), batch.begin(), batch.end());
  const auto cost = [&](int64_t index) {
    const auto lengths = source.Lengths(index);
    return *std::max_element(lengths.begin(), lengths.end());
  };
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end(),
                             [&](int64_t a, int64_t b) { return cost(a) > cost(b); }));
  std::sort(order.begin(), order.end());
  std::vector<int64_t> all(300);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(order, all);
}

TEST(BatchStream, WastesLittleOnRealText) {
  const char* data = std::getenv("ATTEND_DATA");
  if (data == nullptr) GTEST_SKIP() << "ATTEND_DATA is not set";
  const std::string folder = std::string(data) + "/multi30k/train.";
  VocabularyOptions vocabulary_options;
  vocabulary_options.size = 6000;
  vocabulary_options.type = VocabularyType::kBpe;
  vocabulary_options.lowercase = true;
  const auto vocabulary =
      Vocabulary::FromBytes(TrainVocabulary(std::vector<std::string>{folder + "en", folder + "de"},
                                            vocabulary_options, 1, NoLog()),
                            "test");
  const ParallelCorpus corpus(
      {SourceColumn({folder + "en"}, vocabulary), TargetColumn({folder + "de"}, vocabulary)}, {},
      2);
  for (const int64_t batch_tokens : {2048, 4096}) {
    BatchOptions options;
    options.batch_tokens = batch_tokens;
    const auto batches = BatchPlanner(corpus, options).Epoch(3);
    const double waste = PaddingShare(corpus, batches);
    std::printf("batch_tokens %ld: %zu batches, %.2f %% padding; %s\n",
                static_cast<long>(batch_tokens), batches.size(), 100 * waste,
                corpus.report().Text().c_str());
    EXPECT_LT(waste, 0.06);
  }
}

}  // namespace
}  // namespace attend
