// Examples from parallel text files: line i of each column is one example, encoded once.
#ifndef ATTEND_DATA_PARALLEL_CORPUS_H_
#define ATTEND_DATA_PARALLEL_CORPUS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attend/vocabulary.h"
#include "base/fields.h"
#include "data/batch_stream.h"

namespace attend {

// One side of the text. A list of files is one corpus: they follow each other.
struct CorpusColumn {
  std::string name;
  std::vector<std::string> files;  // plain or .gz
  std::shared_ptr<const Vocabulary> vocabulary;
  bool add_bos = false;
  bool add_eos = false;
};

// "source": x1 ... xn eos; "target": bos y1 ... ym eos.
CorpusColumn SourceColumn(std::vector<std::string> files,
                          std::shared_ptr<const Vocabulary> vocabulary);
CorpusColumn TargetColumn(std::vector<std::string> files,
                          std::shared_ptr<const Vocabulary> vocabulary);

// Lengths count pieces, without bos and eos. An example with an empty column is always dropped.
struct CorpusFilters {
  int64_t min_length = 1;
  int64_t max_length = 256;     // 0: none
  double max_length_ratio = 0;  // longest column over shortest; 0: none
};

FieldList Fields(CorpusFilters& filters);

// What became of the lines. An example is counted under the first reason that drops it, in this
// order.
struct CorpusReport {
  int64_t lines = 0;
  int64_t kept = 0;
  int64_t empty = 0;
  int64_t too_short = 0;
  int64_t too_long = 0;
  int64_t ratio = 0;
  std::vector<int64_t> malformed;  // by column: malformed UTF-8 sequences read as U+FFFD
  std::vector<int64_t> tokens;     // by column: ids kept, bos and eos included

  // "29000 lines, 28990 kept; dropped: 0 empty, 0 too short, 10 too long, 0 by length ratio; ..."
  std::string Text() const;
};

struct FileDigest {
  std::string path;
  std::string sha256;  // of the bytes on disk
  int64_t lines = 0;
  bool operator==(const FileDigest&) const = default;
};

// Immutable once made; safe to use from many threads. Holds 4 bytes for each id.
class ParallelCorpus : public ExampleSource {
 public:
  // Reads and encodes with `threads` threads; the result does not depend on their number. Throws
  // Error(kInput) for a file that can't be read and for files of different line counts (both named,
  // with their counts), Error(kConfiguration) for columns with different numbers of files.
  ParallelCorpus(std::vector<CorpusColumn> columns, const CorpusFilters& filters, int threads);
  ~ParallelCorpus() override;

  const std::vector<std::string>& column_names() const override { return names_; }
  int64_t size() const override { return static_cast<int64_t>(lines_.size()); }
  // Example::line counts over all files of a column. Epochs make no difference.
  Example Get(int64_t index, int64_t epoch) const override;
  // Of the columns as Get gives them, bos and eos included.
  std::vector<int64_t> Lengths(int64_t index) const override;

  const CorpusReport& report() const { return report_; }
  // By column, then by file: what a checkpoint keeps to know the data again.
  const std::vector<FileDigest>& digests() const { return digests_; }

 private:
  struct Block;
  void ReadFiles(size_t file, const CorpusFilters& filters, int threads);
  void Keep(const Block& block, const CorpusFilters& filters);
  bool Passes(const std::vector<int64_t>& lengths, const CorpusFilters& filters);

  std::vector<CorpusColumn> columns_;
  std::vector<std::string> names_;
  std::vector<int64_t> lines_;        // [example]
  std::vector<int32_t> ids_;          // all examples, all columns, one after another
  std::vector<uint64_t> ends_ = {0};  // of each column of each example in ids_, after a leading 0
  CorpusReport report_;
  std::vector<FileDigest> digests_;
};

}  // namespace attend

#endif  // ATTEND_DATA_PARALLEL_CORPUS_H_
