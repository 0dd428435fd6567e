// Plain text for language models: documents, cut without loss into contexts of a fixed length.
#ifndef ATTEND_DATA_DOCUMENT_CORPUS_H_
#define ATTEND_DATA_DOCUMENT_CORPUS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/thread_pool.h"
#include "data/corpus.h"

namespace attend {

// Where a document ends.
enum class DocumentEnd { kBlankLine, kFile };

struct ContextOptions {
  int64_t context_tokens = 256;  // that the model reads at once
  DocumentEnd documents = DocumentEnd::kBlankLine;
  bool across_documents = true;  // a context may hold the end of one document and others after it
};

FieldList Fields(ContextOptions& options);

// What the text has, however it is cut into tokens.
struct TextSize {
  int64_t tokens = 0;      // newlines and the ends of documents included
  int64_t words = 0;       // that white space divides, and the ends of lines
  int64_t characters = 0;  // code points, the ends of lines included
  int64_t documents = 0;
};

// A text in memory, 4 bytes a token. An example has one column: bos and up to context_tokens of the
// tokens that follow each other; each token of the text is in one example. Immutable once made;
// safe to use from many threads.
class DocumentCorpus : public TextCorpus {
 public:
  // Reads and encodes with `threads` threads; the result does not depend on their number. The end
  // of a line is the newline token (text/newlines.h), if the vocabulary has one, and the end of a
  // document eos. Throws Error(kInput) for a file that can't be read or has no text.
  DocumentCorpus(std::vector<std::string> files, std::shared_ptr<const Vocabulary> vocabulary,
                 const ContextOptions& options, int threads);

  // Epochs of one window each. Documents come in an order of (seed, epoch), and the first context
  // has a length of (seed, epoch), so that contexts begin elsewhere in each epoch.
  void Shuffle(uint64_t seed) { seed_ = seed; }
  std::unique_ptr<WindowReader> Open(int64_t epoch, const WindowStart& start,
                                     const WindowPart& part) const override;
  std::string Text() const override;
  const CorpusReport& report() const override { return report_; }
  int64_t tokens() const override { return size_.tokens; }
  int64_t unknown_tokens() const override;

  // In the order of the text, from its beginning: what a text is judged by.
  ExampleTable Contexts() const;
  // Tokens of a document, eos included.
  std::span<const int32_t> Document(int64_t document) const;
  const TextSize& text_size() const { return size_; }

 private:
  class Reader;
  struct Line;
  void ReadFile(int64_t file, ThreadPool* pool);
  void EndDocument();
  // `order`: documents; `first`: tokens of the first context.
  ExampleTable Cut(const std::vector<int64_t>& order, int64_t first) const;
  ExampleTable CutEpoch(int64_t epoch) const;

  ContextOptions options_;
  int32_t bos_, eos_, newline_;
  uint64_t seed_ = 1;
  std::vector<int32_t> ids_;         // of all documents
  std::vector<int64_t> ends_ = {0};  // of each document in ids_, after a leading 0
  std::vector<Origin> origins_;      // of each document's first line
  bool open_ = false;                // a document has begun
  TextSize size_;
  CorpusReport report_;
};

}  // namespace attend

#endif  // ATTEND_DATA_DOCUMENT_CORPUS_H_
