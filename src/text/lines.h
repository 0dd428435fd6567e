// Reads text files line by line, plain, gzip or zstd, from disk or standard input.
//
// A line ends at LF and nowhere else (not at U+2028, NEL, form feed or a lone CR), so that counts
// equal `wc -l`'s, but for a last line without LF, which counts too. CRLF ends are stripped. Bytes
// pass as they are, NUL and malformed UTF-8 included. Every function throws Error(kInput) that
// names the file: for one that can't be read, a damaged or cut gzip or zstd stream (after which
// line, too), a line longer than kMaxLineBytes, and a file of another format than text.
#ifndef ATTEND_TEXT_LINES_H_
#define ATTEND_TEXT_LINES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

inline constexpr size_t kMaxLineBytes = size_t{1} << 20;

// As many as fill the batches of every thread that runs a model on them.
constexpr size_t LinesAtOnce(int threads) {
  return std::max<size_t>(512, size_t{256} * static_cast<size_t>(threads));
}

// What is refused by what it begins with: what is plainly no text of sentences (ForeignFormat), or
// no text in UTF-8 at all (BinaryFormat), as for tables and columns, which lose a byte order mark
// at their beginning: it would belong to the first field.
enum class FormatCheck { kSentences, kText };

// One owner; not thread-safe.
class LineReader {
 public:
  // A name that ends in .gz must be a gzip file, one in .zst a zstd file; "-" is standard input,
  // plain.
  explicit LineReader(const std::string& path, FormatCheck check = FormatCheck::kSentences);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // False at the end of the file. Waits only while no whole line is there yet.
  bool Next(std::string* line);
  // Next will not wait: a whole line, the end of the file or an error is there.
  bool Ready();
  // Lines handed out so far.
  int64_t lines() const { return lines_; }
  // The part of a regular file that was handed out, from 0 to 1; of a compressed one by what was
  // read of it. Nothing for a pipe.
  std::optional<double> Fraction() const;
  // Where the next line begins, in bytes of the text.
  int64_t offset() const { return offset_; }
  // Goes on where another reader of the same file was at `offset` after `lines` lines. A plain file
  // is sought, a compressed one read up to there. Precondition: nothing was read yet.
  void SkipTo(int64_t offset, int64_t lines);
  // The path, or "standard input".
  const std::string& name() const { return name_; }

  class Input;  // where bytes come from

 private:
  bool Fill();
  void CheckFormat();

  std::string name_;
  std::optional<FormatCheck> check_;  // of what comes first; nothing: done
  std::unique_ptr<Input> input_;
  std::string buffer_;
  size_t start_ = 0;  // of the part of buffer_ that is not handed out
  bool ended_ = false;
  int64_t lines_ = 0;
  int64_t offset_ = 0;
};

// By its name: it can only be read from its beginning.
bool IsCompressed(const std::string& path);

std::vector<std::string> ReadLines(const std::string& path,
                                   FormatCheck check = FormatCheck::kSentences);
int64_t CountLines(const std::string& path);

// Where each white-space word (divided by spaces and tabs) of a line ends.
std::vector<size_t> WordEnds(std::string_view line);
int64_t CountWords(std::string_view line);
std::vector<std::string> WordsOfLine(std::string_view line);

}  // namespace attend

#endif  // ATTEND_TEXT_LINES_H_
