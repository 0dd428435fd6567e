#include "data/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attend/error.h"

namespace attend {

CorpusColumn SourceColumn(std::vector<std::string> files,
                          std::shared_ptr<const Vocabulary> vocabulary) {
  return {std::move(files), std::move(vocabulary), false, true};
}

CorpusColumn TargetColumn(std::vector<std::string> files,
                          std::shared_ptr<const Vocabulary> vocabulary) {
  return {std::move(files), std::move(vocabulary), true, true};
}

FieldList Fields(CorpusFilters& filters) {
  FieldList fields;
  fields
      .Add("min_length", &filters.min_length, 1, 1e6,
           "drop training pairs with fewer tokens on a side")
      .Add("max_length", &filters.max_length, 0, 1e6,
           "drop training pairs with more tokens on a side; 0: no limit")
      .Add("max_length_ratio", &filters.max_length_ratio, 0, 1e6,
           "drop training pairs with one side this many times longer than the other; 0: no limit");
  return fields;
}

Corpus::Corpus(std::vector<CorpusColumn> columns, const CorpusFilters& filters,
               PairProtection protection, const CaseNoise& noise)
    : columns_(std::move(columns)),
      filters_(filters),
      protection_(std::move(protection)),
      noise_(noise) {
  if (columns_.empty()) throw Error(ErrorKind::kUsage, "a corpus needs at least one column");
  for (size_t column = 0; column < columns_.size(); ++column) {
    const std::vector<std::string>& files = columns_[column].files;
    if (files.empty() || files.size() != columns_[0].files.size()) {
      throw Error(ErrorKind::kConfiguration,
                  fmt::format("side 1 of the text has {} files but side {} has {}; expected as "
                              "many, at least one",
                              columns_[0].files.size(), column + 1, files.size()));
    }
    for (const std::string& path : files) digests_.push_back({path, "", 0});
  }
}

std::string Corpus::Where(const Place& place) const { return Where(place, 0); }

std::string Corpus::Where(const Place& place, size_t column) const {
  return fmt::format("{}:{}", columns_[column].files.at(place.file), place.line + 1);
}

void Corpus::Count(const Place& place, size_t column, NamedLines* lines) const {
  ++lines->count;
  if (lines->first.size() < NamedLines::kNamed) lines->first.push_back(Where(place, column));
}

// The first reason to drop an example; null where it passes.
NamedLines CorpusReport::* Corpus::WhyDropped(const Example& example) const {
  const auto [shortest, longest] =
      std::minmax_element(example.columns.begin(), example.columns.end(),
                          [](const auto& a, const auto& b) { return a.size() < b.size(); });
  const int64_t least = std::ssize(*shortest), most = std::ssize(*longest);
  if (least == 0) return &CorpusReport::empty;
  if (least < filters_.min_length) return &CorpusReport::too_short;
  if (filters_.max_length > 0 && most > filters_.max_length) return &CorpusReport::too_long;
  if (filters_.max_length_ratio > 0 &&
      static_cast<double>(most) > filters_.max_length_ratio * static_cast<double>(least)) {
    return &CorpusReport::ratio;
  }
  return nullptr;
}

PairSpans Corpus::Change(const Place& place, uint64_t time, std::vector<std::string>* texts) const {
  PairSpans spans = Protect(place, time, texts);
  noise_.Apply(place, time, texts);
  return spans;
}

PairSpans Corpus::Protect(const Place& place, uint64_t time,
                          std::vector<std::string>* texts) const {
  constexpr uint64_t kProtectKey = 0x70726f74656374;  // "protect"
  if (protection_.masker == nullptr) return {};
  std::string &source = texts->at(0), &target = texts->at(1);
  if (!protection_.training) return protection_.masker->MaskPair(&source, &target, nullptr);
  Random random{protection_.seed, time, static_cast<uint64_t>(place.file),
                static_cast<uint64_t>(place.line), kProtectKey};
  const PairSpans spans = protection_.masker->MaskPair(&source, &target, &random);
  const bool has_text = !source.empty() && !target.empty();
  if (has_text && random.Uniform() < protection_.examples)
    protection_.masker->AddPlaceholders(&source, &target, &random);
  return spans;
}

void Corpus::Keep(EncodedLine line, ExampleTable* table, CorpusReport* report) const {
  ++report->lines;
  report->protected_spans += line.spans.masked;
  report->unequal_spans += line.spans.unequal;
  for (size_t column = 0; column < columns_.size(); ++column) {
    if (line.malformed[column] > 0) Count(line.example.place, column, &report->malformed);
  }
  report->tokens.resize(columns_.size());
  if (NamedLines CorpusReport::* const reason = WhyDropped(line.example)) {
    Count(line.example.place, 0, &(report->*reason));
    return;
  }
  ++report->kept;
  for (size_t column = 0; column < columns_.size(); ++column) {
    const SpecialIds special = columns_[column].vocabulary->special_ids();
    std::vector<int32_t>& ids = line.example.columns[column];
    if (columns_[column].add_bos) ids.insert(ids.begin(), static_cast<int32_t>(special.bos));
    if (columns_[column].add_eos) ids.push_back(static_cast<int32_t>(special.eos));
    report->tokens[column] += std::ssize(ids);
  }
  table->Add(line.example);
}

void CheckLineCounts(const FileDigest& first, const FileDigest& second) {
  if (first.lines == second.lines) return;
  throw Error(ErrorKind::kInput, fmt::format("'{}' has {} lines but '{}' has {}; expected the "
                                             "same number, line by line a translation",
                                             first.path, first.lines, second.path, second.lines));
}

}  // namespace attend
