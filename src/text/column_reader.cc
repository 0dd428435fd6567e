#include "text/column_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "attend/error.h"
#include "base/counted.h"
#include "base/excerpt.h"
#include "text/utf8.h"

namespace attend {

std::vector<std::string> ColumnsOf(std::string_view line) {
  const bool tabs = line.find('\t') != line.npos;
  std::vector<std::string> columns;
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find(tabs ? '\t' : ' ', begin), line.size());
    if (tabs || end > begin) columns.emplace_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return columns;
}

std::vector<std::string> ColumnSentence::Column(int64_t column) const {
  std::vector<std::string> texts;
  for (const std::vector<std::string>& word : words)
    texts.push_back(word[column < 0 ? word.size() + column : column]);
  return texts;
}

namespace {

// "(S (NP ...", "( (S ...": more than one constituent begins.
bool IsTree(std::string_view line) {
  int64_t begun = 0;
  for (size_t at = 0; at + 1 < line.size(); ++at)
    begun += line[at] == '(' && std::isalpha(static_cast<unsigned char>(line[at + 1])) != 0 ? 1 : 0;
  return line.starts_with('(') && begun + (line.starts_with("( (") ? 1 : 0) > 1;
}

// Tabs divide texts of several words.
bool IsTable(std::string_view line) {
  const size_t tab = line.find_last_of('\t');
  return tab != line.npos && line.find(' ', tab) != line.npos;
}

}  // namespace

void ColumnReader::Check(const std::vector<std::string>& word, std::string_view line) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::kInput, fmt::format("{}:{}: {}: '{}'", reader_.name(), reader_.lines(),
                                               why, Excerpt(line)));
  };
  if (columns_ == 0 && IsTree(line))
    refuse("a bracketed tree, expected columns: a word a line, then what is known of it");
  if (columns_ == 0 && IsTable(line)) {
    refuse(
        "a table of texts, expected columns: a word a line, then what is known of it; tables of "
        "labels and texts are for models of classification");
  }
  if (columns_ == 0) columns_ = std::ssize(word);
  if (std::ssize(word) != columns_)
    refuse(fmt::format(
        "{}, expected {} as in the lines before: a word a line, then what is known of it",
        Counted(std::ssize(word), "column"), columns_));
  if (word[0].empty()) refuse("the word is empty");
}

// False at the end of the file.
bool ColumnReader::AddLine() {
  std::string line;
  ended_ = !reader_.Next(&line);
  if (ended_) return false;
  int64_t malformed = 0;
  line = RepairUtf8(line, &malformed);
  malformed_ += malformed > 0 ? 1 : 0;
  if (line.find_first_not_of(" \t") == line.npos) {
    whole_ = !sentence_.words.empty();
    (whole_ ? blanks_ : sentence_.blanks).push_back(std::move(line));
    return true;
  }
  std::vector<std::string> word = ColumnsOf(line);
  Check(word, line);
  if (sentence_.words.empty()) sentence_.first_line = reader_.lines();
  sentence_.words.push_back(std::move(word));
  sentence_.lines.push_back(std::move(line));
  return true;
}

bool ColumnReader::Next(ColumnSentence* sentence) {
  while (!whole_ && !ended_ && AddLine()) continue;
  *sentence = std::exchange(sentence_, {});
  sentence_.blanks = std::exchange(blanks_, {});
  whole_ = false;
  return !sentence->words.empty();
}

bool ColumnReader::Ready() {
  while (!whole_ && !ended_ && reader_.Ready()) AddLine();
  return whole_ || ended_;
}

}  // namespace attend
