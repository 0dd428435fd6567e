#include "data/parallel_corpus.h"

#include <algorithm>
#include <utility>

#include "base/sha256.h"
#include "base/thread_pool.h"
#include "text/lines.h"

namespace attend {
namespace {

constexpr size_t kBlockLines = 8192;
constexpr size_t kTaskLines = 256;

// The next lines of one column.
std::vector<std::string> ReadBlock(LineReader* reader) {
  std::vector<std::string> lines;
  std::string line;
  while (lines.size() < kBlockLines && reader->Next(&line)) lines.push_back(line);
  return lines;
}

int64_t LinesToTheEnd(LineReader* reader) {
  std::string line;
  while (reader->Next(&line)) continue;
  return reader->lines();
}

}  // namespace

std::vector<EncodedLine> ParallelCorpus::Encode(const Origin& first,
                                                std::vector<std::vector<std::string>>* text,
                                                ThreadPool* pool) const {
  std::vector<EncodedLine> encoded(text->at(0).size());
  const size_t tasks = (encoded.size() + kTaskLines - 1) / kTaskLines;
  pool->ParallelFor(static_cast<int64_t>(tasks), [&](int64_t task, int) {
    const size_t end = std::min(encoded.size(), (task + 1) * kTaskLines);
    for (size_t line = task * kTaskLines; line < end; ++line) {
      std::vector<std::string> texts;
      for (std::vector<std::string>& column : *text) texts.push_back(std::move(column[line]));
      encoded[line] = EncodeLine({first.file, first.line + static_cast<int64_t>(line)},
                                 /*time=*/0, std::move(texts), nullptr);
    }
  });
  return encoded;
}

ParallelCorpus::ParallelCorpus(std::vector<CorpusColumn> columns, const CorpusFilters& filters,
                               int threads, TextChanges changes)
    : LineCorpus(std::move(columns), filters, std::move(changes)), examples_(EmptyTable()) {
  for (int64_t file = 0; file < files(); ++file) ReadFiles(file, threads);
}

void ParallelCorpus::ReadFiles(int64_t file, int threads) {
  ThreadPool pool(threads);
  std::vector<std::unique_ptr<LineReader>> readers;
  for (const CorpusColumn& column : columns())
    readers.push_back(std::make_unique<LineReader>(column.files[file]));
  for (int64_t line = 0;;) {
    std::vector<std::vector<std::string>> text;
    for (const auto& reader : readers) text.push_back(ReadBlock(reader.get()));
    const bool parallel = std::all_of(text.begin(), text.end(), [&](const auto& lines) {
      return lines.size() == text[0].size();
    });
    if (!parallel || text[0].empty()) break;
    std::vector<EncodedLine> encoded = Encode({file, line}, &text, &pool);
    for (const EncodedLine& one : encoded) Keep(one, &examples_, &report_);
    line += std::ssize(encoded);
  }
  for (int64_t column = 0; column < std::ssize(readers); ++column) {
    FileDigest& known = digest(column, file);
    known.lines = LinesToTheEnd(readers[column].get());
    CheckLineCounts(digest(0, file), known);
    known.sha256 = Sha256OfFile(known.path);
  }
}

std::unique_ptr<WindowReader> ParallelCorpus::Open(int64_t epoch, const WindowStart& /*start*/,
                                                   const WindowPart& /*part*/) const {
  return OpenTable(&examples_, epoch);
}

}  // namespace attend
