// Text files in columns: what every corpus knows of its files, whatever it makes examples of.
#ifndef ATTEND_DATA_CORPUS_H_
#define ATTEND_DATA_CORPUS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attend/vocabulary.h"
#include "base/files.h"
#include "data/corpus_report.h"
#include "data/example_source.h"

namespace attend {

// Such as the source of parallel text, or plain text that has no other column.
struct CorpusColumn {
  std::string name;                // "source"
  std::vector<std::string> files;  // plain, .gz or .zst
  std::shared_ptr<const Vocabulary> vocabulary;
  TextFrame frame;                         // around each line's ids
  std::vector<std::string> prefixes = {};  // before each line's text, by file; may be fewer

  // An empty text stays so.
  std::string WithPrefix(int64_t file, std::string text) const;
};

struct FileDigest {
  std::string path;
  std::string sha256;  // of the bytes on disk
  int64_t lines = 0;
  std::string name = {};  // "source file 1"
  bool operator==(const FileDigest&) const = default;
};

class Corpus : public ExampleSource {
 public:
  // Throws Error(kConfiguration) for columns with different numbers of files, or none.
  explicit Corpus(std::vector<CorpusColumn> columns);

  // "train.en:17": the first column's file and the line, counted from 1.
  std::string Where(const Origin& origin) const override;
  // For people, before training: what is known of the lines by then.
  virtual std::string Summary() const = 0;
  // What became of the lines that were read by then.
  virtual const CorpusReport& report() const = 0;
  const std::vector<CorpusColumn>& columns() const { return columns_; }
  // By column, then by file: what a checkpoint keeps to know the data again.
  const std::vector<FileDigest>& digests() const { return digests_; }

 protected:
  int64_t files() const { return std::ssize(columns_[0].files); }
  FileDigest& digest(int64_t column, int64_t file) { return digests_[column * files() + file]; }
  const FileDigest& digest(int64_t column, int64_t file) const {
    return digests_[column * files() + file];
  }
  // Notes what tells that a file was written to since.
  void Stamp(int64_t column, int64_t file);
  // Throws Error(kInput) for a file that was written to since Stamp().
  void CheckUnchanged(int64_t column, int64_t file) const;
  [[noreturn]] void RefuseChanged(int64_t column, int64_t file) const;
  std::string Where(const Origin& origin, size_t column) const;
  // Adds the line to those that have something in common.
  void Count(const Origin& origin, size_t column, NamedLines* lines) const;

 private:
  std::vector<CorpusColumn> columns_;
  std::vector<FileDigest> digests_;
  std::vector<FileStamp> stamps_;  // as digests_
};

// A corpus of one column. Its tokens are counted over all of it, or over its beginning where it is
// read as training goes.
class TextCorpus : public Corpus {
 public:
  using Corpus::Corpus;
  virtual int64_t tokens() const = 0;
  virtual int64_t unknown_tokens() const = 0;
};

}  // namespace attend

#endif  // ATTEND_DATA_CORPUS_H_
