// A corpus in memory: line i of each column is one example, encoded once.
#ifndef ATTEND_DATA_PARALLEL_CORPUS_H_
#define ATTEND_DATA_PARALLEL_CORPUS_H_

#include <memory>
#include <string>
#include <vector>

#include "data/corpus.h"

namespace attend {

// A list of files is one corpus: they follow each other. Immutable once made; safe to use from many
// threads. Holds 4 bytes for each id.
class ParallelCorpus : public Corpus {
 public:
  // Reads and encodes with `threads` threads; the result does not depend on their number. Throws
  // Error(kInput) for a file that can't be read and for files of different line counts (both named,
  // with their counts), and what Corpus throws.
  ParallelCorpus(std::vector<CorpusColumn> columns, const CorpusFilters& filters, int threads);

  std::unique_ptr<WindowReader> Open(int64_t epoch, const WindowStart& start,
                                     const WindowPart& part) const override;
  std::string Text() const override { return report_.Text(); }
  const CorpusReport& report() const override { return report_; }

  const ExampleTable& examples() const { return examples_; }

 private:
  void ReadFiles(int64_t file, int threads);

  ExampleTable examples_;
  CorpusReport report_;
};

}  // namespace attend

#endif  // ATTEND_DATA_PARALLEL_CORPUS_H_
