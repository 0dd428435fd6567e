#include "data/batch_stream.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "attend/error.h"
#include "base/random.h"
#include "data/batch_plan.h"
#include "data/example_fixture.h"

namespace attend {
namespace {

// Lengths drawn at random; an example's line tells batches apart. Epochs have windows of
// `window_size` examples.
class MadeUpSource : public ExampleSource {
 public:
  explicit MadeUpSource(int64_t size, int64_t window_size = 1 << 30, int64_t fails_at = -1)
      : fails_at_(fails_at) {
    Random random{7};
    tables_.push_back(IdTable(2));
    for (int64_t i = 0; i < size; ++i) {
      const int64_t length = 1 + static_cast<int64_t>(random.Below(30));
      const int64_t other =
          std::max<int64_t>(1, length + static_cast<int64_t>(random.Below(7)) - 3);
      if (tables_.back().size() == window_size) tables_.push_back(IdTable(2));
      AddExample({0, i}, {std::vector<int32_t>(length), std::vector<int32_t>(other)},
                 &tables_.back());
    }
  }
  // Called with each window's number as a worker has made it.
  std::function<void(int64_t window)> on_made = [](int64_t) {};
  // As many windows more without an example.
  void AddEmptyWindows(int64_t count) {
    for (int64_t i = 0; i < count; ++i) tables_.push_back(IdTable(2));
  }
  std::unique_ptr<WindowReader> Open(int64_t epoch, const WindowStart& start,
                                     const WindowPart& part) const override {
    return std::make_unique<Reader>(this, epoch, start.number, part);
  }
  bool in_parts() const override { return true; }
  std::string Where(const Origin&) const override { return ""; }
  const ExampleTable& table() const { return tables_.at(0); }
  int64_t Batches(const BatchOptions& options, int64_t epoch) const {
    int64_t batches = 0;
    for (int64_t window = 0; window < std::ssize(tables_); ++window) {
      batches +=
          std::ssize(ShuffledBatches(tables_[window], options.limits, options.seed, epoch, window));
    }
    return batches;
  }

 private:
  class Reader : public WindowReader {
   public:
    Reader(const MadeUpSource* source, int64_t epoch, int64_t window, const WindowPart& part)
        : source_(source), epoch_(epoch), window_(window), part_(part) {}
    WindowWork Next() override {
      WindowWork work{epoch_, {window_, {}}, false, {}};
      work.make = [source = source_, window = window_, part = part_] {
        if (window == source->fails_at_) throw Error(ErrorKind::kInput, "this window is broken");
        CorpusReport report;
        const ExampleTable& all = source->tables_[window];
        const auto table = std::make_shared<ExampleTable>(IdTable(2));
        const int64_t end = all.size() * (part.index + 1) / part.count;
        for (int64_t i = all.size() * part.index / part.count; i < end; ++i)
          AddExample(all[i].origin(), ColumnsOf(all[i]), table.get());
        report.lines = table->size();
        if (part.index == 0) ++report.lines;
        if (window > 1 && part.index + 1 == part.count) {
          report.malformed = {2, {fmt::format("t:{}", window), "t:9"}};
        }
        source->on_made(window);
        return Window{table, report};
      };
      work.last = ++window_ == std::ssize(source_->tables_);
      if (work.last) {
        ++epoch_;
        window_ = 0;
      }
      return work;
    }

   private:
    const MadeUpSource* source_;
    int64_t epoch_, window_;
    WindowPart part_;
  };

  std::vector<ExampleTable> tables_;
  int64_t fails_at_;
};

using Signature = std::vector<int64_t>;

Signature SignatureOf(const Batch& batch) {
  Signature signature = {batch.epoch, batch.sequence};
  for (const Example example : batch.examples()) signature.push_back(example.origin().line);
  return signature;
}

std::vector<Signature> Take(BatchStream* stream, int64_t count) {
  std::vector<Signature> taken;
  for (int64_t i = 0; i < count; ++i) taken.push_back(SignatureOf(stream->Next()));
  return taken;
}

BatchOptions Small() {
  BatchOptions options;
  options.limits.tokens = 120;
  return options;
}

TEST(BatchStream, HasEveryExampleOnceAnEpochWithinTheBound) {
  for (const auto& [max_sentences, window_size] :
       {std::pair<int64_t, int64_t>{0, 5000}, {3, 5000}, {0, 170}, {0, 1}}) {
    const MadeUpSource source(1000, window_size);
    BatchOptions options = Small();
    options.limits.sentences = max_sentences;
    BatchStream stream(&source, options);
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      std::multiset<int64_t> seen;
      while (stream.position().epoch == epoch) {
        const Batch batch = stream.Next();
        EXPECT_EQ(batch.epoch, epoch);
        int64_t longest = 0;
        for (const Example example : batch.examples()) {
          seen.insert(example.origin().line);
          longest = std::max({longest, example.Length(0), example.Length(1)});
        }
        EXPECT_LE(longest * std::ssize(batch.rows), 120);
        if (max_sentences > 0) {
          EXPECT_LE(std::ssize(batch.rows), max_sentences);
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
  options.limits.tokens = 1;
  BatchStream stream(&source, options);
  EXPECT_EQ(source.Batches(options, 0), 50);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(stream.Next().rows.size(), 1u);
}

TEST(BatchStream, OrderDoesNotDependOnWorkers) {
  for (const int64_t window_size : {5000, 33}) {
    const MadeUpSource source(500, window_size);
    BatchStream one(&source, Small());
    const std::vector<Signature> expected = Take(&one, 3 * source.Batches(Small(), 0));
    for (const int64_t workers : {2, 4, 40}) {
      BatchOptions options = Small();
      options.worker_threads = workers;
      BatchStream stream(&source, options);
      EXPECT_EQ(Take(&stream, std::ssize(expected)), expected) << workers;
    }
  }
}

TEST(BatchStream, MakesTheNextWindowWhileOneIsInUse) {
  MadeUpSource source(1000, 170);
  std::promise<void> next;
  source.on_made = [&](int64_t window) {
    if (window == 1) next.set_value();
  };
  BatchStream stream(&source, Small());
  stream.Next();
  EXPECT_EQ(next.get_future().wait_for(std::chrono::minutes(1)), std::future_status::ready);
}

TEST(BatchStream, EpochsAndSeedsDiffer) {
  const MadeUpSource source(5000);
  BatchOptions options;
  options.limits.tokens = 500;
  const auto plan = [&](uint64_t seed, int64_t epoch, int64_t window) {
    return ShuffledBatches(source.table(), options.limits, seed, epoch, window);
  };
  const BatchPlan first = plan(1, 0, 0);
  EXPECT_EQ(first, plan(1, 0, 0));
  EXPECT_NE(first, plan(1, 1, 0));
  EXPECT_NE(first, plan(2, 0, 0));
  EXPECT_NE(first, plan(1, 0, 1));
  // Composition varies too: few batches of one epoch are batches of the next.
  std::set<std::set<int64_t>> composition;
  for (const auto& batch : first) composition.insert({batch.begin(), batch.end()});
  int64_t same = 0;
  for (const auto& batch : plan(1, 1, 0))
    same += composition.contains({batch.begin(), batch.end()});
  EXPECT_LT(same, std::ssize(first) / 20);
}

TEST(BatchStream, ResumesAtEveryPosition) {
  for (const int64_t window_size : {5000, 17, 1}) {
    MadeUpSource source(60, window_size);
    source.AddEmptyWindows(2);
    BatchStream whole(&source, Small());
    std::vector<DataPosition> positions;
    std::vector<Signature> expected;
    while (whole.position().epoch < 3) {
      positions.push_back(whole.position());
      expected.push_back(SignatureOf(whole.Next()));
    }
    for (size_t i = 0; i < positions.size(); ++i) {
      BatchOptions options = Small();
      options.worker_threads = 1 + static_cast<int64_t>(i) % 3;
      BatchStream resumed(&source, options, positions[i]);
      EXPECT_EQ(resumed.position(), positions[i]);
      const std::vector<Signature> rest(expected.begin() + static_cast<int64_t>(i), expected.end());
      EXPECT_EQ(Take(&resumed, std::ssize(rest)), rest) << "from " << i;
      EXPECT_EQ(resumed.position(), whole.position());
    }
  }
}

// Peers as threads of one process.
class Exchange {
 public:
  explicit Exchange(int64_t size) : size_(size) {}
  Peers PeersOf(int64_t rank) {
    Peers peers{rank, size_, {}};
    peers.begin_gather = [this, rank, calls = int64_t{0}](const std::string& own) mutable {
      const std::lock_guard lock(mutex_);
      parts_[calls][rank] = own;
      wake_.notify_all();
      return [this, call = calls++] {
        std::unique_lock waiting(mutex_);
        wake_.wait(waiting, [&] { return std::ssize(parts_[call]) == size_; });
        std::vector<std::string> all;
        for (const auto& [peer, part] : parts_[call]) all.push_back(part);
        return all;
      };
    };
    return peers;
  }
  std::map<int64_t, std::map<int64_t, std::string>> parts() const { return parts_; }

 private:
  const int64_t size_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::map<int64_t, std::map<int64_t, std::string>> parts_;  // by call, by rank
};

// From `start` on, in each peer.
std::vector<std::vector<Signature>> TakeWithPeers(const ExampleSource& source, Exchange* exchange,
                                                  int64_t size, const DataPosition& start,
                                                  int64_t count) {
  std::vector<std::vector<Signature>> taken(size);
  std::vector<std::thread> peers;
  for (int64_t rank = 0; rank < size; ++rank) {
    peers.emplace_back([&, rank] {
      BatchOptions options = Small();
      options.worker_threads = 1 + rank;
      options.peers = exchange->PeersOf(rank);
      BatchStream stream(&source, options, start);
      taken[rank] = Take(&stream, count);
    });
  }
  for (std::thread& peer : peers) peer.join();
  return taken;
}

TEST(BatchStream, PeersMakePartsOfEachWindowAndHaveItWhole) {
  for (const int64_t window_size : {5000, 40, 17, 1}) {
    MadeUpSource source(60, window_size);
    source.AddEmptyWindows(2);
    BatchStream alone(&source, Small());
    DataPosition middle;
    std::vector<Signature> expected;
    while (alone.position().epoch < 3) {
      if (std::ssize(expected) == 4) middle = alone.position();
      expected.push_back(SignatureOf(alone.Next()));
    }
    for (const int64_t size : {2, 3, 5}) {
      Exchange exchange(size);
      for (const auto& taken : TakeWithPeers(source, &exchange, size, {}, std::ssize(expected)))
        EXPECT_EQ(taken, expected) << size << " peers, windows of " << window_size;
      const std::vector<Signature> rest(expected.begin() + 4, expected.end());
      Exchange resumed(size);
      for (const auto& taken : TakeWithPeers(source, &resumed, size, middle, std::ssize(rest)))
        EXPECT_EQ(taken, rest) << size << " peers, windows of " << window_size;
    }
  }
}

TEST(BatchStream, PeersShareTheWork) {
  const MadeUpSource source(4000, 2000);
  Exchange exchange(4);
  TakeWithPeers(source, &exchange, 4, {}, 10);
  const auto parts = exchange.parts();
  ASSERT_EQ(parts.size(), 1u);  // the second window's wait until the first's last quarter
  for (const auto& [rank, part] : parts.at(0)) {
    const Window made = JoinParts({part});
    ASSERT_EQ(made.examples->size(), 500);
    EXPECT_EQ((*made.examples)[0].origin().line, 500 * rank);
  }
}

TEST(BatchStream, PeersThrowWhatOneOfThemMetAtTheSameBatch) {
  const MadeUpSource good(60, 20), broken(60, 20, 2);
  Exchange exchange(3);
  std::vector<int64_t> batches(3);
  std::vector<std::string> messages(3);
  std::vector<std::thread> peers;
  for (int64_t rank = 0; rank < 3; ++rank) {
    peers.emplace_back([&, rank] {
      BatchOptions options = Small();
      options.peers = exchange.PeersOf(rank);
      BatchStream stream(rank == 1 ? &broken : &good, options);
      try {
        while (true) stream.Next();
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kInput);
        messages[rank] = error.what();
      }
      batches[rank] = stream.position().sequence;
    });
  }
  for (std::thread& peer : peers) peer.join();
  EXPECT_THAT(messages, testing::Each("rank 1: this window is broken"));
  EXPECT_GT(batches[0], 1);
  EXPECT_THAT(batches, testing::Each(batches[0]));
}

TEST(BatchStream, PassesOnWhatPeersCannotExchange) {
  const MadeUpSource source(60, 20);
  BatchOptions options = Small();
  for (const bool at_once : {true, false}) {
    options.peers = {0, 2, [&](const std::string&) -> Peers::Gathered {
                       const auto fail = []() -> std::vector<std::string> {
                         throw Error(ErrorKind::kRuntime, "rank 1 is gone");
                       };
                       if (at_once) fail();
                       return fail;
                     }};
    BatchStream stream(&source, options);
    EXPECT_THROW(stream.Next(), Error);
    EXPECT_THROW(stream.Next(), Error);
  }
  // No batch is given once this peer has missed a call.
  bool failed = false;
  options.peers = {0, 2, [&, calls = 0](const std::string& own) mutable -> Peers::Gathered {
                     failed = ++calls > 1;
                     if (failed) throw Error(ErrorKind::kRuntime, "out of memory");
                     return [own] { return std::vector<std::string>{own, own}; };
                   }};
  BatchStream stream(&source, options);
  const auto next = [&] {
    stream.Next();
    EXPECT_FALSE(failed);
  };
  EXPECT_THROW(while (true) next(), Error);
  EXPECT_TRUE(failed);
}

TEST(BatchStream, ReportsEachEpochWholeWhereverItIsResumed) {
  const MadeUpSource source(60, 17);  // four windows, each with a line that was dropped
  std::vector<std::string> messages;
  BatchOptions options = Small();
  options.log = [&](LogLevel, std::string_view message) { messages.emplace_back(message); };
  DataPosition position;
  while (position.epoch < 2) {
    BatchStream stream(&source, options, position);
    stream.Next();
    position = stream.position();
  }
  EXPECT_THAT(
      messages,
      testing::ElementsAre(testing::StartsWith("text so far: 18 lines"),
                           testing::EndsWith("U+FFFD, first in t:2, 9"),
                           testing::EndsWith("U+FFFD, first in t:2, 9"),  // again, as resumed there
                           testing::StartsWith("text of epoch 1: 64 lines"),
                           testing::StartsWith("text of epoch 2: 64 lines")));
}

TEST(BatchStream, RefusesAPositionBehindTheEndAndNoData) {
  const MadeUpSource source(60);
  EXPECT_THROW(BatchStream(&source, Small(), {0, 100000, 100000}).Next(), Error);
  EXPECT_THROW(BatchStream(&source, Small(), {0, -1, 0}).Next(), Error);
  MadeUpSource nothing(0);
  nothing.AddEmptyWindows(3);
  BatchStream stream(&nothing, Small());
  EXPECT_THROW(stream.Next(), Error);
  EXPECT_THROW(stream.Next(), Error);
}

TEST(BatchStream, PassesOnWhatAWorkerThrowsAtItsBatch) {
  const MadeUpSource good(60, 20), broken(60, 20, 2);
  BatchOptions options = Small();
  options.worker_threads = 4;
  BatchStream expected(&good, options), stream(&broken, options);
  while (expected.position().window.number < 2)
    EXPECT_EQ(SignatureOf(stream.Next()), SignatureOf(expected.Next()));
  // The position before the error is one to go on from, once the text is mended.
  BatchStream mended(&good, options, stream.position());
  EXPECT_EQ(SignatureOf(mended.Next()), SignatureOf(expected.Next()));
  EXPECT_THROW(stream.Next(), Error);
  EXPECT_THROW(stream.Next(), Error);  // and again, rather than hang
}

TEST(BatchStream, BatchesKeepTheirWindow) {
  const MadeUpSource source(60, 20);
  Batch first;
  std::vector<std::vector<int32_t>> columns;
  {
    BatchStream stream(&source, Small());
    first = stream.Next();
    columns = ColumnsOf(first.examples()[0]);
    while (stream.position().window.number < 2) stream.Next();
  }
  EXPECT_EQ(ColumnsOf(first.examples()[0]), columns);
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

}  // namespace
}  // namespace attend
