#include "data/parallel_corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "attend/error.h"
#include "base/sha256.h"
#include "base/thread_pool.h"
#include "text/lines.h"

namespace attend {
namespace {

constexpr size_t kBlockLines = 8192;
constexpr size_t kTaskLines = 256;

}  // namespace

// Some lines of every column, and their ids.
struct ParallelCorpus::Block {
  explicit Block(size_t columns) : text(columns), ids(columns), malformed(columns) {}

  std::vector<std::vector<std::string>> text;          // [column][line]
  std::vector<std::vector<std::vector<int32_t>>> ids;  // [column][line][piece]
  std::vector<std::vector<int64_t>> malformed;         // [column][line]

  // False at the end of all files. Throws when they do not end together.
  bool Read(const std::vector<std::unique_ptr<LineReader>>& readers);
  void Encode(const std::vector<CorpusColumn>& columns, ThreadPool* pool);
};

bool ParallelCorpus::Block::Read(const std::vector<std::unique_ptr<LineReader>>& readers) {
  for (size_t column = 0; column < readers.size(); ++column) {
    text[column].clear();
    std::string line;
    while (text[column].size() < kBlockLines && readers[column]->Next(&line))
      text[column].push_back(line);
    if (text[column].size() == text[0].size()) continue;
    for (const size_t differing : {size_t{0}, column}) {
      while (readers[differing]->Next(&line)) continue;
    }
    throw Error(ErrorKind::kInput, fmt::format("'{}' has {} lines but '{}' has {}; expected the "
                                               "same number, line by line a translation",
                                               readers[0]->name(), readers[0]->lines(),
                                               readers[column]->name(), readers[column]->lines()));
  }
  return !text[0].empty();
}

void ParallelCorpus::Block::Encode(const std::vector<CorpusColumn>& columns, ThreadPool* pool) {
  const size_t lines = text[0].size();
  for (size_t column = 0; column < columns.size(); ++column) {
    ids[column].assign(lines, {});
    malformed[column].assign(lines, 0);
  }
  const size_t tasks = (lines + kTaskLines - 1) / kTaskLines;
  pool->ParallelFor(static_cast<int64_t>(tasks), [&](int64_t task, int) {
    const size_t end = std::min(lines, (task + 1) * kTaskLines);
    for (size_t line = task * kTaskLines; line < end; ++line) {
      for (size_t column = 0; column < columns.size(); ++column) {
        ids[column][line] =
            columns[column].vocabulary->Encode(text[column][line], &malformed[column][line]);
      }
    }
  });
}

CorpusColumn SourceColumn(std::vector<std::string> files,
                          std::shared_ptr<const Vocabulary> vocabulary) {
  return {"source", std::move(files), std::move(vocabulary), false, true};
}

CorpusColumn TargetColumn(std::vector<std::string> files,
                          std::shared_ptr<const Vocabulary> vocabulary) {
  return {"target", std::move(files), std::move(vocabulary), true, true};
}

FieldList Fields(CorpusFilters& filters) {
  FieldList fields;
  fields
      .Add("min_length", &filters.min_length, 1, 1e6,
           "drop training pairs with a side of fewer pieces")
      .Add("max_length", &filters.max_length, 0, 1e6,
           "drop training pairs with a side of more pieces; 0: none")
      .Add("max_length_ratio", &filters.max_length_ratio, 0, 1e6,
           "drop training pairs with one side this many times longer than the other; 0: none");
  return fields;
}

std::string CorpusReport::Text() const {
  std::string text = fmt::format(
      "{} lines, {} kept; dropped: {} empty, {} too short, {} too long, {} by length ratio", lines,
      kept, empty, too_short, too_long, ratio);
  const int64_t bad = std::accumulate(malformed.begin(), malformed.end(), int64_t{0});
  if (bad > 0) text += fmt::format("; {} malformed UTF-8 sequences read as U+FFFD", bad);
  return text;
}

ParallelCorpus::ParallelCorpus(std::vector<CorpusColumn> columns, const CorpusFilters& filters,
                               int threads)
    : columns_(std::move(columns)) {
  for (const CorpusColumn& column : columns_) {
    names_.push_back(column.name);
    if (column.files.empty() || column.files.size() != columns_[0].files.size()) {
      throw Error(ErrorKind::kConfiguration,
                  fmt::format("{} has {} files but {} has {}; expected as many, at least one",
                              columns_[0].name, columns_[0].files.size(), column.name,
                              column.files.size()));
    }
  }
  if (columns_.empty()) throw Error(ErrorKind::kUsage, "a corpus needs at least one column");
  report_.malformed.resize(columns_.size());
  report_.tokens.resize(columns_.size());
  for (const CorpusColumn& column : columns_) {
    for (const std::string& path : column.files) digests_.push_back({path, "", 0});
  }
  for (size_t file = 0; file < columns_[0].files.size(); ++file) ReadFiles(file, filters, threads);
  for (FileDigest& digest : digests_) digest.sha256 = Sha256OfFile(digest.path);
  ids_.shrink_to_fit();
}

ParallelCorpus::~ParallelCorpus() = default;

void ParallelCorpus::ReadFiles(size_t file, const CorpusFilters& filters, int threads) {
  ThreadPool pool(threads);
  std::vector<std::unique_ptr<LineReader>> readers;
  for (const CorpusColumn& column : columns_)
    readers.push_back(std::make_unique<LineReader>(column.files[file]));
  Block block(columns_.size());
  while (block.Read(readers)) {
    block.Encode(columns_, &pool);
    Keep(block, filters);
  }
  for (size_t column = 0; column < columns_.size(); ++column) {
    digests_[column * columns_[0].files.size() + file].lines = readers[column]->lines();
  }
}

void ParallelCorpus::Keep(const Block& block, const CorpusFilters& filters) {
  std::vector<int64_t> lengths(columns_.size());
  for (size_t line = 0; line < block.text[0].size(); ++line, ++report_.lines) {
    for (size_t column = 0; column < columns_.size(); ++column) {
      lengths[column] = std::ssize(block.ids[column][line]);
      report_.malformed[column] += block.malformed[column][line];
    }
    if (!Passes(lengths, filters)) continue;
    ++report_.kept;
    lines_.push_back(report_.lines);
    for (size_t column = 0; column < columns_.size(); ++column) {
      const SpecialIds special = columns_[column].vocabulary->special_ids();
      const std::vector<int32_t>& ids = block.ids[column][line];
      if (columns_[column].add_bos) ids_.push_back(static_cast<int32_t>(special.bos));
      ids_.insert(ids_.end(), ids.begin(), ids.end());
      if (columns_[column].add_eos) ids_.push_back(static_cast<int32_t>(special.eos));
      report_.tokens[column] += static_cast<int64_t>(ids_.size() - ends_.back());
      ends_.push_back(ids_.size());
    }
  }
}

// Counts the first reason to drop an example.
bool ParallelCorpus::Passes(const std::vector<int64_t>& lengths, const CorpusFilters& filters) {
  const auto [shortest, longest] = std::minmax_element(lengths.begin(), lengths.end());
  int64_t* reason = nullptr;
  if (*shortest == 0) {
    reason = &report_.empty;
  } else if (*shortest < filters.min_length) {
    reason = &report_.too_short;
  } else if (filters.max_length > 0 && *longest > filters.max_length) {
    reason = &report_.too_long;
  } else if (filters.max_length_ratio > 0 &&
             static_cast<double>(*longest) >
                 filters.max_length_ratio * static_cast<double>(*shortest)) {
    reason = &report_.ratio;
  }
  if (reason != nullptr) ++*reason;
  return reason == nullptr;
}

Example ParallelCorpus::Get(int64_t index, int64_t /*epoch*/) const {
  Example example{lines_.at(index), {}};
  const size_t columns = columns_.size();
  for (size_t column = 0; column < columns; ++column) {
    const uint64_t* ends = &ends_[index * columns + column];
    example.columns.emplace_back(ids_.begin() + static_cast<int64_t>(ends[0]),
                                 ids_.begin() + static_cast<int64_t>(ends[1]));
  }
  return example;
}

std::vector<int64_t> ParallelCorpus::Lengths(int64_t index) const {
  const size_t columns = columns_.size();
  std::vector<int64_t> lengths(columns);
  for (size_t column = 0; column < columns; ++column) {
    const uint64_t* ends = &ends_[index * columns + column];
    lengths[column] = static_cast<int64_t>(ends[1] - ends[0]);
  }
  return lengths;
}

}  // namespace attend
