// Plain text for language models, in memory.
#ifndef ATTEND_DATA_DOCUMENT_CORPUS_H_
#define ATTEND_DATA_DOCUMENT_CORPUS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "data/documents.h"

namespace attend {

// Immutable once made; safe to use from many threads.
class DocumentCorpus : public PlainTextCorpus {
 public:
  // Reads and encodes with `threads` threads; the result does not depend on their number. Throws
  // Error(kInput) for a file that can't be read or has no text.
  DocumentCorpus(std::vector<std::string> files, std::shared_ptr<const Vocabulary> vocabulary,
                 const ContextOptions& options, int threads);

  // Epochs of one window each. Documents come in an order of (seed, epoch), and the first context
  // has a length of (seed, epoch), so that contexts begin elsewhere in each epoch.
  void Shuffle(uint64_t seed) { seed_ = seed; }
  std::unique_ptr<WindowReader> Open(int64_t epoch, const WindowStart& start,
                                     const WindowPart& part) const override;
  std::string Summary() const override;
  const CorpusReport& report() const override { return report_; }
  const Documents& beginning() const override { return documents_; }

  const Documents& documents() const { return documents_; }
  const TextSize& text_size() const { return documents_.text_size(); }

 private:
  class Reader;
  void ReadFile(int64_t file, ThreadPool* pool);

  uint64_t seed_ = 1;
  Documents documents_;
  CorpusReport report_;
};

}  // namespace attend

#endif  // ATTEND_DATA_DOCUMENT_CORPUS_H_
