// Batches for training: examples of similar length, shuffled by (seed, epoch), made ahead of time
// by worker threads and handed out in one order that nothing but the data, the options and the seed
// decides.
#ifndef ATTEND_DATA_BATCH_STREAM_H_
#define ATTEND_DATA_BATCH_STREAM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"

namespace attend {

// One training example: named columns of ids (the names are the source's, e.g. "source", "target").
// Later tasks add columns of floats and labels.
struct Example {
  int64_t line = 0;  // where it stands in the corpus, from 0
  std::vector<std::vector<int32_t>> columns;
};

// What a training set is made of, already cut into ids; see parallel_corpus.h for the one made from
// text files.
class ExampleSource {
 public:
  virtual ~ExampleSource() = default;
  virtual const std::vector<std::string>& column_names() const = 0;
  virtual int64_t size() const = 0;
  // Thread-safe. Epochs count from 0; they matter to sources that sample (subword sampling).
  virtual Example Get(int64_t index, int64_t epoch) const = 0;
  // Length in tokens of each column, known without Get.
  virtual std::vector<int64_t> Lengths(int64_t index) const = 0;
};

struct Batch {
  int64_t epoch = 0;     // from 0
  int64_t sequence = 0;  // from 0 since the start of training
  std::vector<Example> examples;
};

// Where the stream stands: what a checkpoint keeps.
struct DataPosition {
  int64_t epoch = 0;
  int64_t batch_in_epoch = 0;  // the next batch to hand out
  int64_t sequence = 0;
  bool operator==(const DataPosition&) const = default;
};

struct BatchOptions {
  int64_t batch_tokens = 4096;  // bound on rows times the longer side, padding included
  int64_t max_sentences = 0;    // bound on rows; 0: none
  uint64_t seed = 1;
  int64_t worker_threads = 1;
  int64_t prefetch = 8;  // batches made ahead
};

// An example's cost in a batch is the longest of its columns; a batch costs rows times its largest
// cost. An example that alone is over the bound makes a batch by itself.
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
  // worker threw.
  Batch Next();
  // Where the next Next() stands.
  DataPosition position() const;
  // Batches in the epoch that Next() is in.
  int64_t batches_in_epoch() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The batches of one pass in source order (sorted by length within the budget), for validation.
std::vector<std::vector<int64_t>> BatchesByLength(const ExampleSource& source,
                                                  const BatchOptions& options);

}  // namespace attend

#endif  // ATTEND_DATA_BATCH_STREAM_H_
