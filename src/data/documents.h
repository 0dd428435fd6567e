// Plain text as documents of ids, and the contexts of a fixed length that they are cut into without
// loss.
#ifndef ATTEND_DATA_DOCUMENTS_H_
#define ATTEND_DATA_DOCUMENTS_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attend/vocabulary.h"
#include "base/fields.h"
#include "base/random.h"
#include "data/corpus.h"
#include "data/example_table.h"

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

// A key of Random, for what ShuffledContexts draws.
inline constexpr uint64_t kContextKey = 0x637574;

// Documents in memory, 4 bytes a token. The end of a line is the newline token (text/newlines.h),
// if the vocabulary has one, and the end of a document eos.
class Documents {
 public:
  Documents(const Vocabulary& vocabulary, const ContextOptions& options);

  struct Line {
    std::vector<int32_t> ids;
    int64_t words = 0, characters = 0;
    int64_t malformed = 0;  // sequences of UTF-8
  };
  static Line Encode(const Vocabulary& vocabulary, const std::string& text);
  // Whether the line stands between two documents, and is part of none.
  bool Divides(const std::string& text) const;

  // Adds a line to the document, which it may begin. False for one that divides documents.
  bool Add(const std::string& text, const Line& line, const Origin& origin);
  // Ends the document, if one has begun.
  void End();
  // Ends what is here of it, without eos: its other lines are elsewhere.
  void Break();

  const TextSize& text_size() const { return size_; }
  int64_t Count(int32_t id) const;
  // Tokens of a document, eos included.
  std::span<const int32_t> operator[](int64_t document) const {
    return std::span(ids_).subspan(ends_[document], ends_[document + 1] - ends_[document]);
  }

  // Examples of one column: bos and up to context_tokens of the tokens that follow each other. Each
  // token is in one example. In the order of the text, from its beginning: those of the documents
  // that have the first `most` contexts.
  ExampleTable Contexts(int64_t most = std::numeric_limits<int64_t>::max()) const;
  // Of documents in a drawn order. The first context has a drawn length, and so has each document's
  // first one where no context goes on with another document.
  ExampleTable ShuffledContexts(Random random) const;

 private:
  ContextOptions options_;
  int32_t bos_, eos_, newline_;
  std::vector<int32_t> ids_;         // of all documents
  std::vector<int64_t> ends_ = {0};  // of each document in ids_, after a leading 0
  std::vector<Origin> origins_;      // of each document's first line
  bool open_ = false;                // a document has begun
  TextSize size_;
};

// A corpus of plain text. Its examples are contexts (Documents::Contexts).
class PlainTextCorpus : public TextCorpus {
 public:
  PlainTextCorpus(std::vector<std::string> files, std::shared_ptr<const Vocabulary> vocabulary,
                  const ContextOptions& options)
      : TextCorpus({{"text", std::move(files), std::move(vocabulary)}}), options_(options) {}

  // All documents, or those that the text begins with where it is read as training goes; at least
  // one.
  virtual const Documents& beginning() const = 0;
  int64_t tokens() const override { return beginning().text_size().tokens; }
  int64_t unknown_tokens() const override {
    return beginning().Count(static_cast<int32_t>(vocabulary().special_ids().unk));
  }

 protected:
  const Vocabulary& vocabulary() const { return *columns()[0].vocabulary; }
  const ContextOptions& context() const { return options_; }
  // Adds the next line of a file to the documents, and counts it.
  void Add(const std::string& text, const Documents::Line& line, const Origin& origin,
           Documents* documents, CorpusReport* report) const;
  [[noreturn]] void RefuseNoText() const;

 private:
  ContextOptions options_;
};

}  // namespace attend

#endif  // ATTEND_DATA_DOCUMENTS_H_
