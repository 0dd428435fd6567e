// A corpus in memory: line i of each column is one example, encoded once.
#ifndef ATTEND_DATA_PARALLEL_CORPUS_H_
#define ATTEND_DATA_PARALLEL_CORPUS_H_

#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "data/line_corpus.h"

namespace attend {

// A list of files is one corpus: they follow each other. Immutable once made; safe to use from many
// threads. Holds 4 bytes for each id.
class ParallelCorpus : public LineCorpus {
 public:
  // Reads and encodes with `threads` threads; the result does not depend on their number. Throws
  // Error(kInput) for a file that can't be read and for files of different line counts (both named,
  // with their counts), and what Corpus throws.
  ParallelCorpus(std::vector<CorpusColumn> columns, const CorpusFilters& filters, int threads,
                 TextChanges changes = nullptr);

  std::unique_ptr<WindowReader> Open(int64_t epoch, const WindowStart& start,
                                     const WindowPart& part) const override;
  std::string Summary() const override { return report_.Text(); }
  const CorpusReport& report() const override { return report_; }

  const ExampleTable& examples() const { return examples_; }

 private:
  // Encodes a block of lines, of every column; the first is at `first`.
  std::vector<EncodedLine> Encode(const Origin& first, std::vector<std::vector<std::string>>* text,
                                  ThreadPool* pool) const;
  void ReadFiles(int64_t file, int threads);

  ExampleTable examples_;
  CorpusReport report_;
};

}  // namespace attend

#endif  // ATTEND_DATA_PARALLEL_CORPUS_H_
