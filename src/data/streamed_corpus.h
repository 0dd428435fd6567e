// A corpus that is read and encoded as training goes, in bounded memory: segments of its files
// in another order each epoch, several corpora mixed by weight, subword sampling.
#ifndef ATTEND_DATA_STREAMED_CORPUS_H_
#define ATTEND_DATA_STREAMED_CORPUS_H_

#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "data/line_corpus.h"

namespace attend {

struct StreamOptions {
  uint64_t seed = 1;
  // Passes over each file in an epoch, one after another, or {} for 1 each. With 0.25, every line
  // comes once in four epochs; with 2.5, two or three times in each.
  std::vector<double> weights;
  int64_t shuffle_buffer = 100000;  // lines of a window
  double sampling = 0;              // strength of Vocabulary::Sample; 0: Vocabulary::Encode
  TextChanges changes = nullptr;
  Log log = NoLog();  // hears of files that can't be shuffled
};

// Files of equal weight are one corpus. It is cut into segments: plain files into many, much
// shorter than a window, compressed ones, which can only be read from their beginning, into one.
// Segments come in an order drawn for each epoch, a few of them open at a time, which give lines in
// turn; corpora give lines in proportion to what they have in an epoch, so that every window holds
// its share of each and all end together. Which lines a window has is known without reading them: a
// reader of one part reads no others, but for those before them in their segments. Holds no line
// but those of the windows at work. Immutable once made; safe to use from many threads.
class StreamedCorpus : public LineCorpus {
 public:
  // Reads all files with `threads` threads, for counts, digests and segments. Throws Error(kInput)
  // for a file that can't be read to its end and for files of different line counts (both named,
  // with their counts), Error(kConfiguration) for weights that are not as many as files, and what
  // Corpus throws.
  StreamedCorpus(std::vector<CorpusColumn> columns, const CorpusFilters& filters,
                 const StreamOptions& options, int threads);
  ~StreamedCorpus() override;

  // Next() throws Error(kInput) for a file that was written to since the corpus was made.
  std::unique_ptr<WindowReader> Open(int64_t epoch, const WindowStart& start,
                                     const WindowPart& part) const override;
  bool in_parts() const override { return true; }
  std::string Summary() const override;
  const CorpusReport& report() const override { return empty_report_; }

 private:
  class Reader;
  struct Segment;
  struct Line;
  void CutFiles(int threads);
  void WarnOfLongFiles() const;
  double WeightOf(int64_t file) const;
  void CheckUnchanged(const Segment& segment) const;
  Window Make(int64_t epoch, const std::vector<Line>& lines) const;

  StreamOptions options_;
  const CorpusReport empty_report_;
  std::vector<Segment> segments_;  // in the order of the files
};

}  // namespace attend

#endif  // ATTEND_DATA_STREAMED_CORPUS_H_
