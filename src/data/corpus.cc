#include "data/corpus.h"

#include <fmt/format.h>

#include <utility>

#include "attend/error.h"

namespace attend {

std::string CorpusColumn::WithPrefix(int64_t file, std::string text) const {
  if (file >= std::ssize(prefixes) || text.empty()) return text;
  return prefixes[file] + text;
}

Corpus::Corpus(std::vector<CorpusColumn> columns) : columns_(std::move(columns)) {
  if (columns_.empty()) throw Error(ErrorKind::kUsage, "a corpus needs at least one column");
  for (size_t column = 0; column < columns_.size(); ++column) {
    const std::vector<std::string>& files = columns_[column].files;
    if (files.empty() || files.size() != columns_[0].files.size()) {
      throw Error(ErrorKind::kConfiguration,
                  fmt::format("side 1 of the text has {} files but side {} has {}; expected as "
                              "many, at least one",
                              columns_[0].files.size(), column + 1, files.size()));
    }
    for (const std::string& path : files) {
      const size_t number = digests_.size() % files.size() + 1;
      digests_.push_back({path, "", 0, fmt::format("{} file {}", columns_[column].name, number)});
    }
  }
  stamps_.resize(digests_.size());
}

void Corpus::Stamp(int64_t column, int64_t file) {
  stamps_[column * files() + file] = StampOf(digest(column, file).path);
}

void Corpus::CheckUnchanged(int64_t column, int64_t file) const {
  if (StampOf(digest(column, file).path) != stamps_[column * files() + file])
    RefuseChanged(column, file);
}

void Corpus::RefuseChanged(int64_t column, int64_t file) const {
  throw Error(ErrorKind::kInput,
              fmt::format("'{}' was written to since training started; leave the text as it is "
                          "while it is trained on",
                          digest(column, file).path));
}

std::string Corpus::Where(const Origin& origin) const { return Where(origin, 0); }

std::string Corpus::Where(const Origin& origin, size_t column) const {
  return fmt::format("{}:{}", columns_[column].files.at(origin.file), origin.line + 1);
}

void Corpus::Count(const Origin& origin, size_t column, NamedLines* lines) const {
  ++lines->count;
  if (lines->first.size() < NamedLines::kNamed) lines->first.push_back(Where(origin, column));
}

}  // namespace attend
