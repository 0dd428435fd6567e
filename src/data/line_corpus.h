// Corpora whose examples are lines: line i of each column makes one, if the filters keep it.
#ifndef ATTEND_DATA_LINE_CORPUS_H_
#define ATTEND_DATA_LINE_CORPUS_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/fields.h"
#include "data/corpus.h"
#include "text/span_masker.h"

namespace attend {

// Columns of parallel text: x1 ... xn eos, and bos y1 ... ym eos.
CorpusColumn SourceColumn(std::vector<std::string> files,
                          std::shared_ptr<const Vocabulary> vocabulary);
CorpusColumn TargetColumn(std::vector<std::string> files,
                          std::shared_ptr<const Vocabulary> vocabulary);

// Lengths count ids, without bos and eos. An example with an empty column is always dropped.
struct CorpusFilters {
  int64_t min_length = 1;
  int64_t max_length = 256;     // 0: none
  double max_length_ratio = 0;  // longest column over shortest; 0: none
};

FieldList Fields(CorpusFilters& filters);

// Changes the texts of a line, one for each column, before they are encoded. `time` tells times
// apart at which training reads the line. Called from many threads.
using TextChanges =
    std::function<PairSpans(const Origin& origin, uint64_t time, std::vector<std::string>* texts)>;

// A line, encoded.
struct EncodedLine {
  Origin origin;
  std::vector<std::vector<int32_t>> ids;  // by column, without bos and eos
  std::vector<int64_t> malformed;         // sequences, by column
  PairSpans spans;
};

class LineCorpus : public Corpus {
 public:
  // `changes` may be null. Throws what Corpus throws.
  LineCorpus(std::vector<CorpusColumn> columns, const CorpusFilters& filters, TextChanges changes);

  // Whether the filters keep an example with this many ids in its columns, without bos and eos.
  bool Keeps(std::span<const int64_t> lengths) const { return WhyDropped(lengths) == nullptr; }

 protected:
  // A table for its examples.
  ExampleTable EmptyTable() const {
    return ExampleTable(std::vector<ColumnType>(columns().size()));
  }
  PairSpans Change(const Origin& origin, uint64_t time, std::vector<std::string>* texts) const {
    return changes_ ? changes_(origin, time, texts) : PairSpans();
  }
  // Adds the line to `table` if it passes the filters, with bos and eos; counts it in `report`.
  void Keep(const EncodedLine& line, ExampleTable* table, CorpusReport* report) const;

 private:
  NamedLines CorpusReport::* WhyDropped(std::span<const int64_t> lengths) const;

  CorpusFilters filters_;
  TextChanges changes_;
};

// Throws Error(kInput) that names both files and their counts unless the counts are equal.
void CheckLineCounts(const FileDigest& first, const FileDigest& second);

}  // namespace attend

#endif  // ATTEND_DATA_LINE_CORPUS_H_
