#include "text/vocabulary_text.h"

#include <fmt/format.h>

#include <utility>

#include "base/random.h"
#include "text/cut_line.h"
#include "text/utf8.h"

namespace attend {
namespace {

// Longer lines are cut, mostly at spaces, where no piece goes across. Normalisation makes up to 18
// characters of one, and SentencePiece stops the process at a BPE word of 65,536 characters, or
// where the sums over a unigram word become infinite.
constexpr size_t kMaxLineCharacters = 2048;

// U+2585, which SentencePiece takes for its own mark: it would leave out lines that hold it.
constexpr std::string_view kReservedCharacter = "\u2585";

// Words that are cut.
class LongWords {
 public:
  void Count(const std::string& line, const std::function<std::string()>& place) {
    const size_t longest = LongestWord(line);
    if (longest <= kMaxLineCharacters) return;
    if (lines_++ > 0) return;
    characters_ = longest;
    first_ = place();
  }
  void Warn(const Log& log) const {
    if (lines_ == 0) return;
    log(LogLevel::kWarning,
        fmt::format("{}: a word of {} characters is cut into parts of {} to make the vocabulary "
                    "({} line{} such words); is this text?",
                    first_, characters_, kMaxLineCharacters, lines_,
                    lines_ == 1 ? " holds" : "s hold"));
  }

 private:
  int64_t lines_ = 0;
  size_t characters_ = 0;
  std::string first_;
};

std::vector<std::string> Cut(std::vector<std::string> lines) {
  for (size_t i = 0, whole = lines.size(); i < whole; ++i) {
    if (lines[i].size() <= kMaxLineCharacters) continue;
    const std::string line = std::move(lines[i]);
    const std::vector<std::string_view> parts = CutLine(line, kMaxLineCharacters);
    lines[i] = parts[0];
    lines.insert(lines.end(), parts.begin() + 1, parts.end());
  }
  return lines;
}

}  // namespace

std::vector<std::string> CollectLines(const VocabularyText& text, int64_t max_sentences,
                                      uint64_t seed, const Log& log) {
  std::vector<std::string> lines;
  Random random{seed, 0x766f636162};  // "vocab"
  std::string line;
  int64_t seen = 0, malformed = 0, reserved = 0;
  LongWords long_words;
  while (text.next(&line)) {
    if (NeedsRepair(line)) line = RepairUtf8(line, &malformed);
    if (Replace(kReservedCharacter, " ", &line)) ++reserved;
    if (line.empty()) continue;
    ++seen;
    if (line.size() > kMaxLineCharacters) long_words.Count(line, text.place);
    if (max_sentences == 0 || seen <= max_sentences) {
      lines.push_back(line);
    } else if (const uint64_t place = random.Below(seen); place < lines.size()) {
      lines[place] = line;
    }
  }
  LogMalformed(malformed, "the vocabulary's text", log);
  if (reserved > 0) {
    log(LogLevel::kWarning,
        fmt::format("{} lines of the vocabulary's text hold {} (U+2585), which SentencePiece keeps "
                    "for itself: it gets no piece and is read as a space there",
                    reserved, kReservedCharacter));
  }
  long_words.Warn(log);
  return Cut(std::move(lines));
}

}  // namespace attend
