// Labelled text as training examples.
#ifndef ATTEND_DATA_LABELLED_CORPUS_H_
#define ATTEND_DATA_LABELLED_CORPUS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/labelled_text.h"

namespace attend {

// Of the label column: this token has none.
inline constexpr int32_t kNoLabel = -1;

struct LabelledOptions {
  // Whether each token has a label, or kNoLabel: a word's stands on its first token. Otherwise an
  // example has one.
  bool by_token = true;
  int64_t max_tokens = 0;  // that the model can read beside bos and eos
};

// An example is bos, the tokens of an item, eos, and the numbers of its labels. A sentence that is
// longer than the model can read is divided between words; a text alone is cut. Immutable once
// made; safe to use from many threads.
class LabelledCorpus : public TextCorpus {
 public:
  // `items` are of `files`. Throws Error(kInput) that names labels of the items that `labels`
  // lacks.
  LabelledCorpus(std::vector<std::string> files, std::shared_ptr<const Vocabulary> vocabulary,
                 std::vector<LabelledItem> items, const std::vector<std::string>& labels,
                 const LabelledOptions& options);

  std::unique_ptr<WindowReader> Open(int64_t epoch, const WindowStart& start,
                                     const WindowPart& part) const override;
  std::string Summary() const override;
  const CorpusReport& report() const override { return report_; }
  int64_t tokens() const override { return report_.tokens[0]; }
  int64_t unknown_tokens() const override { return unknown_tokens_; }

  // Columns: ids, then labels.
  const ExampleTable& table() const { return table_; }
  const std::vector<LabelledItem>& items() const { return items_; }
  // By row of the table: the item, whose rows follow each other.
  const std::vector<int64_t>& item_of() const { return item_of_; }
  // Items that are divided or cut.
  const NamedLines& longer() const { return longer_; }

 private:
  void AddSentence(int64_t number, const std::vector<int32_t>& labels, int64_t max_tokens);
  void AddText(int64_t number, const std::vector<int32_t>& labels, int64_t max_tokens);
  void AddExample(int64_t number, const std::vector<int32_t>& ids,
                  const std::vector<int32_t>& labels);

  std::vector<LabelledItem> items_;
  ExampleTable table_;
  std::vector<int64_t> item_of_;
  NamedLines longer_;
  int64_t words_ = 0, unknown_tokens_ = 0;
  CorpusReport report_;
};

}  // namespace attend

#endif  // ATTEND_DATA_LABELLED_CORPUS_H_
