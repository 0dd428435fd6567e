// What a training set gives to training: epoch after epoch, each a sequence of windows.
//
// A window is a bounded list of examples that the data, the options, the epoch and the window's
// start decide and nothing else. A corpus in memory has one a epoch, one that is read as training
// goes has many.
#ifndef ATTEND_DATA_EXAMPLE_SOURCE_H_
#define ATTEND_DATA_EXAMPLE_SOURCE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/json.h"
#include "data/corpus_report.h"
#include "data/example_table.h"

namespace attend {

// Where a window begins, for its source.
struct WindowStart {
  int64_t number = 0;  // in its epoch, from 0
  Json cursor;         // what the source needs to begin there; null at the start of an epoch
  bool operator==(const WindowStart&) const = default;
};

struct Window {
  std::shared_ptr<const ExampleTable> examples;
  CorpusReport report;  // of the lines that it was made from; empty where nothing was filtered now
};

// One of `count` stretches of about as many of a window's lines, in their order.
struct WindowPart {
  int64_t index = 0, count = 1;
};

// Makes one window, or the reader's part of it; callable on any thread, while the reader goes on.
// The parts' examples, one part after another, are the window's, and the sum of their reports is
// its report.
using MakeWindow = std::function<Window()>;

// A window, or a part of it, whose lines are read.
struct WindowWork {
  int64_t epoch = 0;
  WindowStart start;
  bool last = false;  // of its epoch
  MakeWindow make;
};

// Goes through windows in order, epoch after epoch without end. One thread at a time.
class WindowReader {
 public:
  virtual ~WindowReader() = default;
  virtual WindowWork Next() = 0;
};

class ExampleSource {
 public:
  virtual ~ExampleSource() = default;
  // A reader of this part of each window. The first window is the one that begins at `start`, which
  // one of this source's windows had. The source must outlive it.
  virtual std::unique_ptr<WindowReader> Open(int64_t epoch, const WindowStart& start,
                                             const WindowPart& part) const = 0;
  // Whether there may be several parts.
  virtual bool in_parts() const { return false; }
  // For people: "train.en:17".
  virtual std::string Where(const Origin& origin) const = 0;
};

// Epochs of one window, which is always `table`.
std::unique_ptr<WindowReader> OpenTable(const ExampleTable* table, int64_t epoch);

}  // namespace attend

#endif  // ATTEND_DATA_EXAMPLE_SOURCE_H_
