// Text whose words have labels (columns), or whose lines have (a table), as its files hold it.
#ifndef ATTEND_DATA_LABELLED_TEXT_H_
#define ATTEND_DATA_LABELLED_TEXT_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/example_table.h"
#include "text/entity_labels.h"

namespace attend {

// A sentence of words, or a text as the only one.
struct LabelledItem {
  Origin origin;  // of its first line
  std::vector<std::string> words;
  std::vector<std::string> labels;  // of each
};

// Columns count from 1; 0 is the last one.
struct ColumnChoice {
  int64_t word = 1, label = 0;
};

// Without the lines that begin a document. Throws Error(kInput) that names the place for a file
// that can't be read or lacks the columns, and for files without a word.
std::vector<LabelledItem> ReadColumns(const std::vector<std::string>& files,
                                      const ColumnChoice& columns);

// A line is `label<TAB>text`. Throws Error(kInput) that names the place for another line.
std::vector<LabelledItem> ReadTable(const std::vector<std::string>& files);

// All labels, in order of their bytes.
std::vector<std::string> LabelsIn(std::span<const LabelledItem> items);

// Every label that a scheme of entities has for the types of these items; sorted.
std::vector<std::string> LabelsOfScheme(std::span<const LabelledItem> items, LabelScheme scheme);

// The scheme that all labels fit. Where all are labels of entities that fit none, which conlleval
// reads all the same, kIob1.
LabelScheme SchemeOf(std::span<const LabelledItem> items);

// Spells the entities in another scheme.
void ChangeScheme(LabelScheme scheme, std::vector<LabelledItem>* items);

}  // namespace attend

#endif  // ATTEND_DATA_LABELLED_TEXT_H_
