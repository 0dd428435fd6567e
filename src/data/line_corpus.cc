#include "data/line_corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attend/error.h"

namespace attend {

CorpusColumn SourceColumn(std::vector<std::string> files,
                          std::shared_ptr<const Vocabulary> vocabulary) {
  const auto eos = static_cast<int32_t>(vocabulary->special_ids().eos);
  return {"source", std::move(files), std::move(vocabulary), {.begin = {}, .end = {eos}}};
}

CorpusColumn TargetColumn(std::vector<std::string> files,
                          std::shared_ptr<const Vocabulary> vocabulary) {
  const SpecialIds ids = vocabulary->special_ids();
  const auto bos = static_cast<int32_t>(ids.bos), eos = static_cast<int32_t>(ids.eos);
  return {"target", std::move(files), std::move(vocabulary), {.begin = {bos}, .end = {eos}}};
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

LineCorpus::LineCorpus(std::vector<CorpusColumn> columns, const CorpusFilters& filters,
                       TextChanges changes)
    : Corpus(std::move(columns)), filters_(filters), changes_(std::move(changes)) {}

// The first reason to drop an example; null where it passes.
NamedLines CorpusReport::* LineCorpus::WhyDropped(std::span<const int64_t> lengths) const {
  const auto [shortest, longest] = std::minmax_element(lengths.begin(), lengths.end());
  const int64_t least = *shortest, most = *longest;
  if (least == 0) return &CorpusReport::empty;
  if (least < filters_.min_length) return &CorpusReport::too_short;
  if (filters_.max_length > 0 && most > filters_.max_length) return &CorpusReport::too_long;
  if (filters_.max_length_ratio > 0 &&
      static_cast<double>(most) > filters_.max_length_ratio * static_cast<double>(least)) {
    return &CorpusReport::ratio;
  }
  return nullptr;
}

void LineCorpus::Keep(const EncodedLine& line, ExampleTable* table, CorpusReport* report) const {
  ++report->lines;
  report->protected_spans += line.spans.masked;
  report->unequal_spans += line.spans.unequal;
  std::vector<int64_t> lengths;
  for (size_t column = 0; column < columns().size(); ++column) {
    if (line.malformed[column] > 0) Count(line.origin, column, &report->malformed);
    lengths.push_back(std::ssize(line.ids[column]));
  }
  report->tokens.resize(columns().size());
  if (NamedLines CorpusReport::* const reason = WhyDropped(lengths)) {
    Count(line.origin, 0, &(report->*reason));
    return;
  }
  ++report->kept;
  for (size_t column = 0; column < columns().size(); ++column) {
    const TextFrame& frame = columns()[column].frame;
    const auto index = static_cast<int64_t>(column);
    for (const std::vector<int32_t>* part : {&frame.begin, &line.ids[column], &frame.end})
      table->Append(index, *part);
    report->tokens[column] += lengths[column] + frame.size();
  }
  table->EndExample(line.origin);
}

void CheckLineCounts(const FileDigest& first, const FileDigest& second) {
  if (first.lines == second.lines) return;
  throw Error(ErrorKind::kInput, fmt::format("'{}' has {} lines but '{}' has {}; expected the "
                                             "same number, line by line a translation",
                                             first.path, first.lines, second.path, second.lines));
}

}  // namespace attend
