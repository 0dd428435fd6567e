// What corpora of parallel text files have in common: columns, filters, and how a line of each
// column becomes an example.
#ifndef ATTEND_DATA_CORPUS_H_
#define ATTEND_DATA_CORPUS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attend/vocabulary.h"
#include "base/fields.h"
#include "data/case_noise.h"
#include "data/corpus_report.h"
#include "data/example_source.h"
#include "data/example_table.h"
#include "text/span_masker.h"

namespace attend {

// One side of the text.
struct CorpusColumn {
  std::vector<std::string> files;  // plain, .gz or .zst
  std::shared_ptr<const Vocabulary> vocabulary;
  bool add_bos = false;
  bool add_eos = false;
};

// x1 ... xn eos, and bos y1 ... ym eos.
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

// What both sides of a pair have in common becomes placeholders. Of two columns; null: nothing
// does.
struct PairProtection {
  std::shared_ptr<const SpanMasker> masker;
  uint64_t seed = 1;
  bool training = true;  // numbers are drawn, and some pairs get placeholders to learn copying from
  double examples = 0;   // the share of those
};

// The line of every column at one place, and their ids.
struct EncodedLine {
  Example example;                 // without bos and eos
  std::vector<int64_t> malformed;  // sequences, by column
  PairSpans spans;
};

struct FileDigest {
  std::string path;
  std::string sha256;  // of the bytes on disk
  int64_t lines = 0;
  bool operator==(const FileDigest&) const = default;
};

class Corpus : public ExampleSource {
 public:
  // Throws Error(kConfiguration) for columns with different numbers of files, or none.
  Corpus(std::vector<CorpusColumn> columns, const CorpusFilters& filters,
         PairProtection protection = {}, const CaseNoise& noise = {});

  // "train.en:17": the first column's file and the line, counted from 1.
  std::string Where(const Place& place) const override;
  // For people, before training: what is known of the lines by then.
  virtual std::string Text() const = 0;
  // What became of the lines that were read by then.
  virtual const CorpusReport& report() const = 0;
  const std::vector<CorpusColumn>& columns() const { return columns_; }
  // Whether the filters let an example pass; its columns are without bos and eos.
  bool Keeps(const Example& example) const { return WhyDropped(example) == nullptr; }
  // By column, then by file: what a checkpoint keeps to know the data again.
  const std::vector<FileDigest>& digests() const { return digests_; }

 protected:
  int64_t files() const { return std::ssize(columns_[0].files); }
  FileDigest& digest(int64_t column, int64_t file) { return digests_[column * files() + file]; }
  const FileDigest& digest(int64_t column, int64_t file) const {
    return digests_[column * files() + file];
  }
  // What is done to the texts of a line, one for each column, before they are encoded: it puts
  // placeholders into them and changes their case. `time` tells times apart at which training
  // reads the line.
  PairSpans Change(const Place& place, uint64_t time, std::vector<std::string>* texts) const;
  // Adds the example to `table` if it passes the filters, with bos and eos; counts it in `report`.
  void Keep(EncodedLine line, ExampleTable* table, CorpusReport* report) const;

 private:
  std::string Where(const Place& place, size_t column) const;
  PairSpans Protect(const Place& place, uint64_t time, std::vector<std::string>* texts) const;
  void Count(const Place& place, size_t column, NamedLines* lines) const;
  NamedLines CorpusReport::* WhyDropped(const Example& example) const;

  std::vector<CorpusColumn> columns_;
  CorpusFilters filters_;
  PairProtection protection_;
  CaseNoise noise_;
  std::vector<FileDigest> digests_;
};

// Throws Error(kInput) that names both files and their counts unless the counts are equal.
void CheckLineCounts(const FileDigest& first, const FileDigest& second);

}  // namespace attend

#endif  // ATTEND_DATA_CORPUS_H_
