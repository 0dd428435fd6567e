#include "data/line_corpus.h"

#include <fmt/format.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <utility>

#include "attend/error.h"
#include "text/alignment_links.h"
#include "text/lines.h"
#include "text/utf8.h"

namespace attend {
namespace {

// Places of a word's tokens: of those that say something, and of punctuation that adheres to it.
struct WordTokens {
  std::vector<int32_t> places[2];
};

bool IsPunctuationPiece(std::string_view piece) {
  constexpr char32_t kWordMark = 0x2581;
  bool any = false;
  for (const char32_t point : CodePoints(piece)) {
    if (point == kWordMark) continue;
    if (!u_ispunct(static_cast<UChar32>(point))) return false;
    any = true;
  }
  return any;
}

// Punctuation with punctuation, the rest with the rest; all with all where that leaves nothing.
void LinkTokens(const WordTokens& source, const WordTokens& target, std::vector<int32_t>* links) {
  const auto link = [&](int from_kind, int to_kind) {
    for (const int32_t from : source.places[from_kind])
      for (const int32_t to : target.places[to_kind]) links->insert(links->end(), {from, to});
  };
  const size_t before = links->size();
  for (const int kind : {0, 1}) link(kind, kind);
  if (links->size() > before) return;
  link(0, 1);
  link(1, 0);
}

}  // namespace

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

CorpusColumn LinkColumn(std::vector<std::string> files) {
  return {"alignments", std::move(files), nullptr, {}};
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

NamedLines CorpusReport::* WhyDropped(const CorpusFilters& filters,
                                      std::span<const int64_t> lengths) {
  const auto [shortest, longest] = std::minmax_element(lengths.begin(), lengths.end());
  const int64_t least = *shortest, most = *longest;
  if (least == 0) return &CorpusReport::empty;
  if (least < filters.min_length) return &CorpusReport::too_short;
  if (filters.max_length > 0 && most > filters.max_length) return &CorpusReport::too_long;
  if (filters.max_length_ratio > 0 &&
      static_cast<double>(most) > filters.max_length_ratio * static_cast<double>(least)) {
    return &CorpusReport::ratio;
  }
  return nullptr;
}

LineCorpus::LineCorpus(std::vector<CorpusColumn> columns, const CorpusFilters& filters,
                       TextChanges changes)
    : Corpus(std::move(columns)), filters_(filters), changes_(std::move(changes)) {}

ExampleTable LineCorpus::EmptyTable() const {
  std::vector<ColumnType> types(columns().size());
  if (has_links()) types.back().kind = ColumnKind::kLabels;
  return ExampleTable(types);
}

EncodedLine LineCorpus::EncodeLine(const Origin& origin, uint64_t time,
                                   std::vector<std::string> texts,
                                   const TextEncoder& encode) const {
  EncodedLine line;
  line.origin = origin;
  line.malformed.resize(columns().size());
  std::string links;
  if (has_links()) {
    links = std::move(texts.back());
    texts.pop_back();
  }
  if (changes_) line.spans = changes_(origin, time, &texts);
  for (size_t column = 0; column < texts.size(); ++column) {
    const Vocabulary& vocabulary = *columns()[column].vocabulary;
    texts[column] = columns()[column].WithPrefix(origin.file, std::move(texts[column]));
    int64_t* malformed = &line.malformed[column];
    line.ids.push_back(encode ? encode(vocabulary, texts[column], malformed)
                              : vocabulary.Encode(texts[column], malformed));
  }
  if (has_links()) line.links = SpreadLinks(line, texts, links, static_cast<bool>(encode));
  return line;
}

std::vector<int32_t> LineCorpus::SpreadLinks(const EncodedLine& line,
                                             const std::vector<std::string>& texts,
                                             const std::string& links, bool sampled) const {
  const auto refuse = [&](int64_t word, const char* side, int64_t words) {
    throw Error(ErrorKind::kInput,
                fmt::format("{}: a link names word {} of the {}, which has {} word{}, counted from "
                            "0; expected words divided by white space, source-target",
                            Where(line.origin, columns().size() - 1), word, side, words,
                            words == 1 ? "" : "s"));
  };
  std::vector<WordTokens> tokens[2];  // by word
  for (const size_t side : {0, 1}) {
    const Vocabulary& vocabulary = *columns()[side].vocabulary;
    const std::vector<int64_t> words =
        sampled ? vocabulary.WordsOfIds(line.ids[side]) : vocabulary.WordsOfLine(texts[side]);
    tokens[side].resize(CountWords(texts[side]));
    const auto first = static_cast<int32_t>(columns()[side].frame.begin.size());
    for (size_t token = 0; token < words.size(); ++token) {
      if (words[token] < 0 || words[token] >= std::ssize(tokens[side])) continue;
      const bool punctuation = IsPunctuationPiece(vocabulary.Piece(line.ids[side][token]));
      tokens[side][words[token]].places[punctuation ? 1 : 0].push_back(first +
                                                                       static_cast<int32_t>(token));
    }
  }
  std::vector<int32_t> spread;
  const Alignment read = ParseAlignment(links, Where(line.origin, columns().size() - 1));
  for (const auto& [source, target] : read.sure) {
    if (source >= std::ssize(tokens[0])) refuse(source, "source", std::ssize(tokens[0]));
    if (target >= std::ssize(tokens[1])) refuse(target, "target", std::ssize(tokens[1]));
    LinkTokens(tokens[0][source], tokens[1][target], &spread);
  }
  return spread;
}

void LineCorpus::AddIds(const std::vector<std::span<const int32_t>>& ids, ExampleTable* table,
                        CorpusReport* report) const {
  for (size_t column = 0; column < ids.size(); ++column) {
    const TextFrame& frame = columns()[column].frame;
    const auto index = static_cast<int64_t>(column);
    table->Append(index, frame.begin);
    table->Append(index, ids[column]);
    table->Append(index, frame.end);
    report->tokens[column] += std::ssize(ids[column]) + frame.size();
  }
}

void LineCorpus::Keep(const EncodedLine& line, ExampleTable* table, CorpusReport* report) const {
  ++report->lines;
  report->protected_spans += line.spans.masked;
  report->unequal_spans += line.spans.unequal;
  std::vector<int64_t> lengths;
  for (size_t column = 0; column < texts(); ++column) {
    if (line.malformed[column] > 0) Count(line.origin, column, &report->malformed);
    lengths.push_back(std::ssize(line.ids[column]));
  }
  report->tokens.resize(texts());
  NamedLines CorpusReport::* const reason = WhyDropped(filters_, lengths);
  if (reason == &CorpusReport::too_long && line.origin.file >= filters_.first_text) {
    ++report->kept;
    const std::span<const int32_t> ids = line.ids.back();
    const int64_t length = std::ssize(ids), most = filters_.max_length,
                  pieces = (length + most - 1) / most;
    for (int64_t piece = 0; piece < pieces; ++piece) {
      const int64_t begin = length * piece / pieces, end = length * (piece + 1) / pieces;
      AddIds(std::vector(texts(), ids.subspan(begin, end - begin)), table, report);
      table->EndExample(line.origin);
    }
    return;
  }
  if (reason != nullptr) {
    Count(line.origin, 0, &(report->*reason));
    return;
  }
  ++report->kept;
  AddIds({line.ids.begin(), line.ids.end()}, table, report);
  if (has_links()) table->Append(static_cast<int64_t>(texts()), line.links);
  table->EndExample(line.origin);
}

void CheckLineCounts(const FileDigest& first, const FileDigest& second) {
  if (first.lines == second.lines) return;
  throw Error(ErrorKind::kInput, fmt::format("'{}' has {} lines but '{}' has {}; expected the "
                                             "same number, line by line a translation",
                                             first.path, first.lines, second.path, second.lines));
}

}  // namespace attend
