#include "cli/evaluate/label_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "attend/error.h"
#include "base/excerpt.h"
#include "metrics/characters.h"
#include "text/column_reader.h"
#include "text/entity_labels.h"
#include "text/lines.h"
#include "text/utf8.h"

namespace attend {
namespace {

std::string Decimal(double value, int64_t width) { return fmt::format("{:.{}f}", value, width); }
double ToWidth(double value, int64_t width) { return std::stod(Decimal(value, width)); }

struct LabelledFile {
  std::string path;
  std::vector<std::vector<std::string>> labels;  // [sentence][word]
  std::vector<int64_t> lines;                    // where each sentence begins
};

void CheckAreOfEntities(const LabelledFile& file) {
  for (size_t i = 0; i < file.labels.size(); ++i) {
    const auto other = std::ranges::find_if_not(file.labels[i], IsEntityLabel);
    if (other == file.labels[i].end()) continue;
    throw Error(
        ErrorKind::kInput,
        fmt::format("{}:{}: '{}' is no label of entities, expected O, or B, I, E or S, a "
                    "'-' and a type, in the last column; --metrics labels scores labels of "
                    "other kinds",
                    file.path, file.lines[i] + (other - file.labels[i].begin()), Excerpt(*other)));
  }
}

// What a column of labels is read for.
enum class LabelKind { kEntity, kAny };

LabelledFile ReadLabels(const std::string& path, LabelKind kind) {
  LabelledFile file{path, {}, {}};
  ColumnReader reader(path);
  ColumnSentence sentence;
  while (reader.Next(&sentence)) {
    const bool document = sentence.begins_document();
    if (document && kind == LabelKind::kAny) continue;
    // The line that begins a document is in no entity; conlleval counts it.
    file.labels.push_back(document ? std::vector<std::string>{"O"} : sentence.Column(-1));
    file.lines.push_back(sentence.first_line);
  }
  if (file.labels.empty())
    throw Error(ErrorKind::kInput, fmt::format("{}: no sentence, expected columns", path));
  if (kind == LabelKind::kEntity) CheckAreOfEntities(file);
  if (kind == LabelKind::kAny && reader.columns() == 1) {
    throw Error(ErrorKind::kInput,
                fmt::format("{}: one column, expected a word and its label a line", path));
  }
  return file;
}

// The labels of all words.
std::vector<std::string> WordLabels(const LabelledFile& file) {
  std::vector<std::string> labels;
  for (const auto& sentence : file.labels)
    labels.insert(labels.end(), sentence.begin(), sentence.end());
  return labels;
}

void CheckAreParallel(const LabelledFile& found, const LabelledFile& expected) {
  if (found.labels.size() != expected.labels.size()) {
    throw Error(ErrorKind::kInput,
                fmt::format("{} has {} sentences and {} has {}, expected the same", found.path,
                            found.labels.size(), expected.path, expected.labels.size()));
  }
  for (size_t i = 0; i < found.labels.size(); ++i) {
    if (found.labels[i].size() == expected.labels[i].size()) continue;
    throw Error(ErrorKind::kInput,
                fmt::format("{}:{}: a sentence of {} words, but of {} at {}:{}; expected the same",
                            found.path, found.lines[i], found.labels[i].size(),
                            expected.labels[i].size(), expected.path, expected.lines[i]));
  }
}

// Entities are counted alike, but equal ones may have other labels.
void WarnOfSchemes(const LabelledFile& found, const LabelledFile& expected, const Log& log) {
  SchemeFinder of_found, of_expected, of_both;
  for (const auto& labels : found.labels) {
    of_found.Add(labels);
    of_both.Add(labels);
  }
  for (const auto& labels : expected.labels) {
    of_expected.Add(labels);
    of_both.Add(labels);
  }
  if (!of_found.Scheme() || !of_expected.Scheme() || of_both.Scheme()) return;
  const std::string_view wanted = NameOf(*of_expected.Scheme());
  log(LogLevel::kWarning,
      fmt::format("{} spells entities by {}, and {} by {}: the accuracy of labels compares two "
                  "spellings; `attend tag --scheme {}` spells them as the reference does",
                  found.path, NameOf(*of_found.Scheme()), expected.path, wanted, wanted));
}

// Of a line with tabs the first column: so `attend classify` writes classes, and tables have them.
std::vector<std::string> ReadClasses(const std::string& path) {
  std::vector<std::string> classes;
  LineReader reader(path, FormatCheck::kText);
  for (std::string line; reader.Next(&line);) {
    classes.push_back(StripRight(RepairUtf8(line.substr(0, line.find('\t')))));
    if (!classes.back().empty()) continue;
    throw Error(ErrorKind::kInput,
                fmt::format("{}:{}: no class, expected one, before a tab or alone; --metrics "
                            "labels scores columns, whose sentences end at empty lines",
                            path, classes.size()));
  }
  return classes;
}

// One row of a table: precision, recall, F1, and how many there are in the reference.
std::string Row(const std::string& name, const std::array<double, 3>& scores, int64_t count,
                int64_t width) {
  return fmt::format("{:<24} {:>10} {:>10} {:>10} {:>10}\n", name, Decimal(scores[0], width),
                     Decimal(scores[1], width), Decimal(scores[2], width), count);
}

std::string Heading(const char* name) {
  return fmt::format("{:<24} {:>10} {:>10} {:>10} {:>10}\n", name, "precision", "recall", "F1",
                     "count");
}

std::array<double, 3> ScoresOf(const EntityCounts& counts) {
  return {counts.precision(), counts.recall(), counts.f1()};
}

Json CountsJson(const EntityCounts& counts, int64_t width) {
  return {{"precision", ToWidth(counts.precision(), width)},
          {"recall", ToWidth(counts.recall(), width)},
          {"f1", ToWidth(counts.f1(), width)},
          {"found", counts.found},
          {"expected", counts.expected},
          {"right", counts.right}};
}

}  // namespace

EntityScores ScoreEntityFiles(const std::string& hypothesis, const std::string& reference,
                              const Log& log) {
  const LabelledFile found = ReadLabels(hypothesis, LabelKind::kEntity);
  const LabelledFile expected = ReadLabels(reference, LabelKind::kEntity);
  CheckAreParallel(found, expected);
  WarnOfSchemes(found, expected, log);
  return ScoreEntities(found.labels, expected.labels);
}

ClassScores ScoreWordLabelFiles(const std::string& hypothesis, const std::string& reference) {
  const LabelledFile found = ReadLabels(hypothesis, LabelKind::kAny);
  const LabelledFile expected = ReadLabels(reference, LabelKind::kAny);
  CheckAreParallel(found, expected);
  return ScoreClasses(WordLabels(found), WordLabels(expected));
}

ClassScores ScoreClassFiles(const std::string& hypothesis, const std::string& reference) {
  const std::vector<std::string> found = ReadClasses(hypothesis), expected = ReadClasses(reference);
  if (found.size() != expected.size()) {
    throw Error(ErrorKind::kInput,
                fmt::format("{} has {} lines and {} has {}, expected the same", hypothesis,
                            found.size(), reference, expected.size()));
  }
  if (found.empty())
    throw Error(ErrorKind::kInput, fmt::format("{} is empty, expected a class a line", hypothesis));
  return ScoreClasses(found, expected);
}

Json ToJson(const EntityScores& scores, int64_t width) {
  Json types = Json::object();
  for (const auto& [type, counts] : scores.by_type) types[type] = CountsJson(counts, width);
  Json all = CountsJson(scores.all, width);
  all["score"] = all["f1"];
  all["accuracy"] = ToWidth(scores.accuracy(), width);
  all["words"] = scores.words;
  all["types"] = types;
  return {{"entity", all}};
}

Json ToJson(const ClassScores& scores, int64_t width, const char* metric) {
  Json classes = Json::object();
  for (size_t i = 0; i < scores.classes.size(); ++i) {
    classes[scores.classes[i]] = {{"precision", ToWidth(scores.precision(i), width)},
                                  {"recall", ToWidth(scores.recall(i), width)},
                                  {"f1", ToWidth(scores.f1(i), width)}};
  }
  return {{metric,
           {{"score", ToWidth(scores.accuracy(), width)},
            {"macro_f1", ToWidth(scores.macro_f1(), width)},
            {"items", scores.items()},
            {"classes", classes},
            {"labels", scores.classes},
            {"confusion", scores.confusion}}}};
}

std::string ToText(const EntityScores& scores, int64_t width) {
  std::string text = Heading("entity");
  for (const auto& [type, counts] : scores.by_type)
    text += Row(type, ScoresOf(counts), counts.expected, width);
  text += Row("all", ScoresOf(scores.all), scores.all.expected, width);
  return text + fmt::format("accuracy of {} labels: {}\n", scores.words,
                            Decimal(scores.accuracy(), width));
}

std::string ToText(const ClassScores& scores, int64_t width) {
  constexpr size_t kMostColumns = 20;
  std::string text = Heading("class");
  for (size_t i = 0; i < scores.classes.size(); ++i) {
    int64_t count = 0;
    for (const int64_t items : scores.confusion[i]) count += items;
    text +=
        Row(scores.classes[i], {scores.precision(i), scores.recall(i), scores.f1(i)}, count, width);
  }
  text += fmt::format("accuracy of {} items: {}, macro F1: {}\n", scores.items(),
                      Decimal(scores.accuracy(), width), Decimal(scores.macro_f1(), width));
  if (scores.classes.size() > kMostColumns) return text;
  text += "\nitems of each class (row), by the class that was found:\n";
  for (size_t i = 0; i < scores.classes.size(); ++i) {
    text += fmt::format("{:<24}", scores.classes[i]);
    for (const int64_t items : scores.confusion[i]) text += fmt::format(" {:>6}", items);
    text += '\n';
  }
  return text;
}

}  // namespace attend
