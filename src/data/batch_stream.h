// Batches for training: examples of similar length, shuffled by (seed, epoch), whose windows worker
// threads make ahead of time; handed out in one order that nothing but the data, the options and
// the seed decides.
#ifndef ATTEND_DATA_BATCH_STREAM_H_
#define ATTEND_DATA_BATCH_STREAM_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/log.h"
#include "data/batch_plan.h"
#include "data/example_source.h"
#include "data/peers.h"

namespace attend {

// Rows of a window's table, which the batch keeps in memory.
struct Batch {
  int64_t epoch = 0;     // from 0
  int64_t sequence = 0;  // from 0 since the start of training
  std::shared_ptr<const ExampleTable> table;
  std::vector<int64_t> rows;

  // The batch must outlive them.
  Examples examples() const& { return {table.get(), rows}; }
  Examples examples() && = delete;
};

// Where the stream stands: what a checkpoint keeps.
struct DataPosition {
  int64_t epoch = 0;
  int64_t batch_in_epoch = 0;  // the next batch to hand out
  int64_t sequence = 0;
  WindowStart window;          // that the next batch is in
  int64_t batches_before = 0;  // of the epoch, in the windows before
  CorpusReport report;         // of the windows before
  bool operator==(const DataPosition&) const = default;
};

struct BatchOptions {
  BatchLimits limits;
  uint64_t seed = 1;
  int64_t worker_threads = 1;
  // Gets what filters dropped, of the first window and of each epoch that reads its text, and where
  // malformed lines are as the first window with any comes.
  Log log = NoLog();
  // Those that go through the same batches, from the same position on.
  Peers peers;
};

// Holds the window that Next() is in and, at most, one more for each worker; batches hold theirs.
// Workers do all the work but the exchange with peers: Next() begins to bring the parts of the
// next window together in the last quarter of the one before, and waits there until every peer has
// made its part; some copies of that window are in memory until it is put together.
class BatchStream {
 public:
  // `source` must outlive the stream. Starts at `position`, in the middle of an epoch where it says
  // so.
  BatchStream(const ExampleSource* source, const BatchOptions& options,
              const DataPosition& position = {});
  ~BatchStream();
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;

  // The next batch; waits for the workers. Never ends: epochs follow each other. Throws what a
  // worker threw (with peers what any of them met, all of them at one batch), and Error(kInput) for
  // an epoch without an example and for a position that is not in the data.
  Batch Next();
  // Where the next Next() stands.
  const DataPosition& position() const;
  // Of the last epoch that ended, where its text was read as it went; else empty.
  const CorpusReport& ended_epoch() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_DATA_BATCH_STREAM_H_
