// Treebanks as training examples.
#ifndef ATTEND_DATA_TREE_CORPUS_H_
#define ATTEND_DATA_TREE_CORPUS_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "text/tree.h"
#include "text/tree_symbols.h"

namespace attend {

// A tree of a treebank, Simplified; it has a word.
struct TreebankItem {
  Origin origin;
  Tree tree;
};

// Of words whose tag is not of punctuation, where tags are not told apart: XX.
inline constexpr const char* kAnyTag = "XX";
// The trees of files in order, without those that have no word. Throws Error(kInput) as TreeReader
// does, and where there is no tree. With `any_tag` all tags but of punctuation are kAnyTag.
std::vector<TreebankItem> ReadTreebank(const std::vector<std::string>& files, bool any_tag);

// All labels of constituents, and all tags, in order of their bytes.
std::set<std::string> ConstituentsIn(const std::vector<TreebankItem>& items);
std::set<std::string> TagsIn(const std::vector<TreebankItem>& items);
// What words of the items are punctuation. Tags in less than a hundredth of a word's places count
// as the treebank's slips.
PunctuationWords PunctuationIn(const std::vector<TreebankItem>& items);

struct TreeCorpusOptions {
  int64_t max_tokens = 0;  // that the model can read
  // How often an epoch uses each file's trees; those below 1 a part of them. Empty: each once.
  std::vector<double> weights;
  uint64_t seed = 1;  // decides which part
};

// An example is bos, the tokens of the words and eos; bos, the symbols of the tree and eos; and for
// each symbol that a decoder reads where in the first column the next word begins. Trees with
// labels that the symbols lack, and sentences longer than the model can read, are left out.
// Immutable once made; safe to use from many threads.
class TreeCorpus : public TextCorpus {
 public:
  // `items` are of `files`.
  TreeCorpus(std::vector<std::string> files, std::shared_ptr<const Vocabulary> vocabulary,
             std::vector<TreebankItem> items, const TreeSymbols& symbols,
             TreeCorpusOptions options);

  std::unique_ptr<WindowReader> Open(int64_t epoch, const WindowStart& start,
                                     const WindowPart& part) const override;
  std::string Summary() const override;
  const CorpusReport& report() const override { return report_; }
  int64_t tokens() const override { return report_.tokens[0]; }
  int64_t unknown_tokens() const override { return unknown_tokens_; }

  const ExampleTable& table() const { return table_; }
  // All of them, those that are left out too.
  const std::vector<TreebankItem>& items() const { return items_; }
  const NamedLines& unknown_labels() const { return unknown_labels_; }
  const NamedLines& longer() const { return longer_; }

 private:
  void Add(const TreebankItem& item, const TreeSymbols& symbols);
  // The examples of an epoch by their files' weights.
  ExampleTable Weighted(uint64_t epoch) const;

  TreeCorpusOptions options_;
  std::vector<TreebankItem> items_;
  ExampleTable table_;
  NamedLines unknown_labels_, longer_;
  int64_t words_ = 0, unknown_tokens_ = 0;
  CorpusReport report_;
};

}  // namespace attend

#endif  // ATTEND_DATA_TREE_CORPUS_H_
