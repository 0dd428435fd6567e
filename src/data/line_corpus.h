// Corpora whose examples are lines: line i of each column makes one, if the filters keep it.
#ifndef ATTEND_DATA_LINE_CORPUS_H_
#define ATTEND_DATA_LINE_CORPUS_H_

#include <cstdint>
#include <functional>
#include <limits>
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
// Which words translate which, in Pharaoh's form, a line a pair: the last column, if any. It has no
// vocabulary, and filters do not look at it.
CorpusColumn LinkColumn(std::vector<std::string> files);

// Lengths count ids, without bos and eos. An example with an empty column is always dropped.
struct CorpusFilters {
  int64_t min_length = 1;
  int64_t max_length = 256;     // 0: none
  double max_length_ratio = 0;  // longest column over shortest; 0: none
  // The files from this one on are plain text, the same in both columns: longer lines are cut.
  int64_t first_text = std::numeric_limits<int64_t>::max();
};

FieldList Fields(CorpusFilters& filters);

// Where a report counts an example with columns of these lengths, which the filters drop; null
// where they keep it.
NamedLines CorpusReport::* WhyDropped(const CorpusFilters& filters,
                                      std::span<const int64_t> lengths);

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
  // Of a column of links: for each the place of a source token and of a target token, among the ids
  // of their columns, bos and eos included. Words are linked by all their tokens, but
  // punctuation that adheres to both by its own.
  std::vector<int32_t> links;
};

class LineCorpus : public Corpus {
 public:
  // `changes` may be null. Throws what Corpus throws.
  LineCorpus(std::vector<CorpusColumn> columns, const CorpusFilters& filters, TextChanges changes);

  // Whether the filters keep an example with this many ids in its columns, without bos and eos.
  bool Keeps(std::span<const int64_t> lengths) const {
    return WhyDropped(filters_, lengths) == nullptr;
  }

 protected:
  // Cuts a text into ids and counts malformed sequences.
  using TextEncoder =
      std::function<std::vector<int32_t>(const Vocabulary&, const std::string&, int64_t*)>;

  // A table for its examples.
  ExampleTable EmptyTable() const;
  // Changes the texts of a line, one for each column, and cuts them by `encode`; null: as the
  // vocabulary does. Throws Error(kInput) for links of words that are not there.
  EncodedLine EncodeLine(const Origin& origin, uint64_t time, std::vector<std::string> texts,
                         const TextEncoder& encode) const;
  // Adds the line to `table` if it passes the filters, with bos and eos; counts it in `report`. One
  // of plain text may be several examples.
  void Keep(const EncodedLine& line, ExampleTable* table, CorpusReport* report) const;

 private:
  // Of an example, by column, with what stands around them.
  void AddIds(const std::vector<std::span<const int32_t>>& ids, ExampleTable* table,
              CorpusReport* report) const;
  bool has_links() const { return columns().back().vocabulary == nullptr; }
  // Columns that have a text.
  size_t texts() const { return columns().size() - (has_links() ? 1 : 0); }
  // EncodedLine::links, of links between words. `sampled`: the ids are not the vocabulary's own
  // choice.
  std::vector<int32_t> SpreadLinks(const EncodedLine& line, const std::vector<std::string>& texts,
                                   const std::string& links, bool sampled) const;

  CorpusFilters filters_;
  TextChanges changes_;
};

// Throws Error(kInput) that names both files and their counts unless the counts are equal.
void CheckLineCounts(const FileDigest& first, const FileDigest& second);

}  // namespace attend

#endif  // ATTEND_DATA_LINE_CORPUS_H_
