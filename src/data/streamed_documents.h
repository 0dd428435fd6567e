// Plain text for language models that is read and encoded as training goes, in bounded memory.
#ifndef ATTEND_DATA_STREAMED_DOCUMENTS_H_
#define ATTEND_DATA_STREAMED_DOCUMENTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/documents.h"

namespace attend {

struct DocumentStreamOptions {
  uint64_t seed = 1;
  int64_t shuffle_buffer = 100000;  // lines of a window
};

// The files are cut into blocks of lines, much shorter than a window, at the ends of documents
// where documents are not longer than a block. An epoch has every block once, in an order drawn for
// it; blocks of a compressed file, which can only be read from its beginning, keep their order. A
// window is the blocks that come next; its documents are shuffled. Holds no line but those of the
// windows at work. Immutable once made; safe to use from many threads.
class StreamedDocuments : public PlainTextCorpus {
 public:
  // Reads all files with `threads` threads, for counts, digests and blocks. Throws Error(kInput)
  // for a file that can't be read to its end, and where there is no text.
  StreamedDocuments(std::vector<std::string> files, std::shared_ptr<const Vocabulary> vocabulary,
                    const ContextOptions& context, const DocumentStreamOptions& options,
                    int threads);
  ~StreamedDocuments() override;

  // Next() throws Error(kInput) for a file that was written to since the corpus was made.
  std::unique_ptr<WindowReader> Open(int64_t epoch, const WindowStart& start,
                                     const WindowPart& part) const override;
  std::string Summary() const override;
  const CorpusReport& report() const override { return empty_report_; }
  const Documents& beginning() const override { return beginning_; }

 private:
  class Reader;
  struct Block;
  struct BlockText;
  std::vector<Block> CutFile(int64_t file);
  std::vector<int64_t> OrderOf(int64_t epoch) const;
  void Encode(const BlockText& block, Documents* documents, CorpusReport* report) const;

  DocumentStreamOptions options_;
  const CorpusReport empty_report_;
  std::vector<Block> blocks_;  // in the order of the text
  Documents beginning_;
};

}  // namespace attend

#endif  // ATTEND_DATA_STREAMED_DOCUMENTS_H_
