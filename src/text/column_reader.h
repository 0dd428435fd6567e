// Reads corpora of columns: a word a line with what is known of it, an empty line after each
// sentence, as CoNLL's shared tasks have them.
#ifndef ATTEND_TEXT_COLUMN_READER_H_
#define ATTEND_TEXT_COLUMN_READER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/lines.h"

namespace attend {

// What blanks or tabs divide; where the line has a tab, tabs alone.
std::vector<std::string> ColumnsOf(std::string_view line);

struct ColumnSentence {
  std::vector<std::string> blanks;  // lines without a word since the sentence before
  int64_t first_line = 0;           // of the file, from 1
  std::vector<std::string> lines;   // one a word, as they stand, repaired where they are not UTF-8
  std::vector<std::vector<std::string>> words;  // [word][column]

  // One column; -1 is the last one.
  std::vector<std::string> Column(int64_t column) const;
  // "-DOCSTART-", which begins a document.
  bool begins_document() const { return words.size() == 1 && words[0][0] == "-DOCSTART-"; }
};

// One owner; not thread-safe. Throws Error(kInput) as LineReader does.
class ColumnReader {
 public:
  explicit ColumnReader(const std::string& path) : reader_(path, FormatCheck::kText) {}

  // The next sentence, false at the end of the file, where `blanks` alone is filled. Throws
  // Error(kInput) that names file and line for a word that has another number of columns than the
  // file's first one, or is of a tree.
  bool Next(ColumnSentence* sentence);
  // Next will not wait: a whole sentence or the end of the file is there. Throws as Next does.
  bool Ready();
  int64_t columns() const { return columns_; }  // 0: nothing was read yet
  // Lines that were not UTF-8, and were repaired.
  int64_t malformed() const { return malformed_; }

 private:
  bool AddLine();
  void Check(const std::vector<std::string>& word, std::string_view line);

  LineReader reader_;
  int64_t columns_ = 0;
  int64_t malformed_ = 0;
  ColumnSentence sentence_;  // that Next will give
  bool whole_ = false;       // the blank line after it was read
  bool ended_ = false;
  std::vector<std::string> blanks_;  // that end the sentence
};

}  // namespace attend

#endif  // ATTEND_TEXT_COLUMN_READER_H_
