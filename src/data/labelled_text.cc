#include "data/labelled_text.h"

#include <fmt/format.h>

#include <set>

#include "attend/error.h"
#include "base/counted.h"
#include "base/excerpt.h"
#include "text/column_reader.h"
#include "text/lines.h"
#include "text/utf8.h"

namespace attend {
namespace {

// From 0, of so many columns.
int64_t ColumnAt(int64_t column, int64_t columns, const std::string& where) {
  if (column > columns) {
    throw Error(
        ErrorKind::kInput,
        fmt::format("{}: {}, expected at least {}; word_column and label_column count from 1",
                    where, Counted(columns, "column"), column));
  }
  return column == 0 ? columns - 1 : column - 1;
}

}  // namespace

std::vector<LabelledItem> ReadColumns(const std::vector<std::string>& files,
                                      const ColumnChoice& columns) {
  std::vector<LabelledItem> items;
  for (int64_t file = 0; file < std::ssize(files); ++file) {
    ColumnReader reader(files[file]);
    ColumnSentence sentence;
    while (reader.Next(&sentence)) {
      if (sentence.begins_document()) continue;
      const std::string where = fmt::format("{}:{}", files[file], sentence.first_line);
      const int64_t word = ColumnAt(columns.word, reader.columns(), where);
      const int64_t label = ColumnAt(columns.label, reader.columns(), where);
      if (word == label) {
        throw Error(ErrorKind::kInput,
                    fmt::format("{}: words and labels are both in column {}, expected columns: a "
                                "word a line, and its label",
                                where, word + 1));
      }
      items.push_back(
          {{file, sentence.first_line - 1}, sentence.Column(word), sentence.Column(label)});
    }
  }
  if (items.empty())
    throw Error(ErrorKind::kInput, fmt::format("'{}' has no word, expected columns", files[0]));
  return items;
}

std::vector<LabelledItem> ReadTable(const std::vector<std::string>& files) {
  std::vector<LabelledItem> items;
  for (int64_t file = 0; file < std::ssize(files); ++file) {
    LineReader reader(files[file], FormatCheck::kText);
    std::string line;
    while (reader.Next(&line)) {
      const size_t tab = line.find('\t');
      if (tab == line.npos || tab == 0) {
        throw Error(ErrorKind::kInput,
                    fmt::format("{}:{}: '{}', expected a label, a tab and a text", files[file],
                                reader.lines(), Excerpt(line)));
      }
      items.push_back(
          {{file, reader.lines() - 1}, {line.substr(tab + 1)}, {RepairUtf8(line.substr(0, tab))}});
    }
  }
  if (items.empty())
    throw Error(ErrorKind::kInput,
                fmt::format("'{}' is empty, expected `label<TAB>text`", files[0]));
  return items;
}

std::vector<std::string> LabelsIn(std::span<const LabelledItem> items) {
  std::set<std::string> labels;
  for (const LabelledItem& item : items) labels.insert(item.labels.begin(), item.labels.end());
  return {labels.begin(), labels.end()};
}

std::vector<std::string> LabelsOfScheme(std::span<const LabelledItem> items, LabelScheme scheme) {
  std::set<std::string> labels = {"O"};
  const std::string_view prefixes = scheme == LabelScheme::kIobes ? "BIES" : "BI";
  for (const std::string& label : LabelsIn(items)) {
    const LabelParts parts(label);
    if (parts.outside()) continue;
    for (const char prefix : prefixes) labels.insert(fmt::format("{}-{}", prefix, parts.type));
  }
  return {labels.begin(), labels.end()};
}

LabelScheme SchemeOf(std::span<const LabelledItem> items) {
  SchemeFinder finder;
  bool entities = true, inside = false;
  for (const LabelledItem& item : items) {
    finder.Add(item.labels);
    for (const std::string& label : item.labels) {
      entities &= IsEntityLabel(label);
      inside |= label != "O";
    }
  }
  if (!entities || !inside) return LabelScheme::kNone;
  return finder.Scheme().value_or(LabelScheme::kIob1);
}

void ChangeScheme(LabelScheme scheme, std::vector<LabelledItem>* items) {
  for (LabelledItem& item : *items)
    item.labels = LabelsOf(EntitiesOf(item.labels), std::ssize(item.labels), scheme);
}

}  // namespace attend
