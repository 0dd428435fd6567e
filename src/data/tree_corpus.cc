#include "data/tree_corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "attend/error.h"
#include "base/random.h"
#include "base/sha256.h"
#include "data/changed_windows.h"
#include "data/file_weights.h"
#include "text/word_ids.h"

namespace attend {

std::vector<TreebankItem> ReadTreebank(const std::vector<std::string>& files, bool any_tag) {
  std::vector<TreebankItem> items;
  for (size_t file = 0; file < files.size(); ++file) {
    TreeReader reader(files[file]);
    for (Tree tree; reader.Next(&tree);) {
      TreebankItem item{{static_cast<int64_t>(file), reader.first_line() - 1}, Simplified(tree)};
      for (TreeNode& node : item.tree.nodes)
        if (any_tag && node.leaf() && !IsPunctuationTag(node.label)) node.label = kAnyTag;
      if (!item.tree.nodes.empty()) items.push_back(std::move(item));
    }
  }
  if (items.empty())
    throw Error(ErrorKind::kInput, fmt::format("'{}' holds no tree with a word", files[0]));
  return items;
}

namespace {

std::set<std::string> LabelsOf(const std::vector<TreebankItem>& items, bool of_leaves) {
  std::set<std::string> labels;
  for (const TreebankItem& item : items) {
    for (const TreeNode& node : item.tree.nodes)
      if (node.leaf() == of_leaves) labels.insert(node.label);
  }
  return labels;
}

}  // namespace

std::set<std::string> ConstituentsIn(const std::vector<TreebankItem>& items) {
  return LabelsOf(items, /*of_leaves=*/false);
}

std::set<std::string> TagsIn(const std::vector<TreebankItem>& items) {
  return LabelsOf(items, /*of_leaves=*/true);
}

PunctuationWords PunctuationIn(const std::vector<TreebankItem>& items) {
  struct Places {
    int64_t of_punctuation = 0, others = 0;
  };
  std::map<std::string, Places> words;
  for (const TreebankItem& item : items) {
    for (const TreeNode& node : item.tree.nodes) {
      if (!node.leaf()) continue;
      Places& places = words[node.word];
      ++(IsPunctuationTag(node.label) ? places.of_punctuation : places.others);
    }
  }
  PunctuationWords found;
  for (const auto& [word, places] : words) {
    const auto [least, most] = std::minmax(places.of_punctuation, places.others);
    if (least * 100 >= least + most) {
      found.sometimes.push_back(word);
    } else if (places.of_punctuation == most) {
      found.always.push_back(word);
    }
  }
  return found;
}

TreeCorpus::TreeCorpus(std::vector<std::string> files, std::shared_ptr<const Vocabulary> vocabulary,
                       std::vector<TreebankItem> items, const TreeSymbols& symbols,
                       TreeCorpusOptions options)
    : TextCorpus({{"trees", std::move(files), std::move(vocabulary), {}}}),
      options_(std::move(options)),
      items_(std::move(items)),
      table_({ColumnType{ColumnKind::kIds}, ColumnType{ColumnKind::kIds},
              ColumnType{ColumnKind::kLabels}}) {
  report_.tokens = {0, 0};
  for (const TreebankItem& item : items_) Add(item, symbols);
  report_.lines = std::ssize(items_);
  report_.kept = table_.size();
  for (int64_t file = 0; file < this->files(); ++file)
    digest(0, file).sha256 = Sha256OfFile(columns()[0].files[file]);
}

void TreeCorpus::Add(const TreebankItem& item, const TreeSymbols& symbols) {
  const Vocabulary& vocabulary = *columns()[0].vocabulary;
  const SpecialIds special = vocabulary.special_ids();
  std::vector<int32_t> target = symbols.Linearized(item.tree);
  if (std::ranges::find(target, -1) != target.end()) return Count(item.origin, 0, &unknown_labels_);
  const SentenceIds sentence = EncodeSentence(vocabulary, item.tree.Words(), options_.max_tokens);
  if (!sentence.whole) return Count(item.origin, 0, &longer_);
  target.insert(target.begin(), static_cast<int32_t>(special.bos));
  std::vector<int32_t> next_words;
  size_t word = 0;
  for (size_t t = 0; t < target.size(); ++t) {
    if (t > 0 && symbols.kind(target[t]) == SymbolKind::kWord) ++word;
    next_words.push_back(sentence.words[word]);
  }
  target.push_back(static_cast<int32_t>(special.eos));
  words_ += std::ssize(sentence.words) - 1;
  report_.tokens[0] += std::ssize(sentence.ids);
  report_.tokens[1] += std::ssize(target);
  unknown_tokens_ += std::ranges::count(sentence.ids, static_cast<int32_t>(special.unk));
  table_.Append(0, sentence.ids);
  table_.Append(1, target);
  table_.Append(2, next_words);
  table_.EndExample(item.origin);
}

std::unique_ptr<WindowReader> TreeCorpus::Open(int64_t epoch, const WindowStart& /*start*/,
                                               const WindowPart& /*part*/) const {
  auto all = OpenTable(&table_, epoch);
  if (options_.weights.empty()) return all;
  return ChangeWindows(std::move(all), [this](const ExampleTable&, uint64_t of_epoch, uint64_t) {
    return Weighted(of_epoch);
  });
}

ExampleTable TreeCorpus::Weighted(uint64_t epoch) const {
  constexpr uint64_t kWeightKey = 0x747265657765;  // "treewe"
  ExampleTable taken(table_.types());
  for (int64_t row = 0; row < table_.size(); ++row) {
    const Example example = table_[row];
    const double weight = options_.weights[example.origin().file];
    const Random random{options_.seed, static_cast<uint64_t>(row), kWeightKey};
    for (int64_t time = 0; time < TimesOf(weight); ++time) {
      if (!TakesExample(weight, random, static_cast<int64_t>(epoch), time)) continue;
      for (int64_t column = 0; column < table_.columns(); ++column)
        taken.Append(column, example.Ids(column));
      taken.EndExample(example.origin());
    }
  }
  return taken;
}

std::string TreeCorpus::Summary() const {
  std::string text = fmt::format("{} trees, {} words, {} tokens, {} symbols", table_.size(), words_,
                                 report_.tokens[0], report_.tokens[1]);
  const auto add = [&](const NamedLines& lines, const char* what) {
    if (lines.count > 0)
      text += fmt::format("; left out: {} {} ({})", lines.count, what, lines.Text());
  };
  add(unknown_labels_, "with labels that the training text has not");
  add(longer_, "longer than the model can read");
  return text;
}

}  // namespace attend
