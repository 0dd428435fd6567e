#include "data/labelled_corpus.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "attend/error.h"
#include "base/sha256.h"
#include "text/word_ids.h"

namespace attend {
namespace {

// Numbers of labels, by item.
std::vector<std::vector<int32_t>> NumbersOf(const std::vector<LabelledItem>& items,
                                            const std::vector<std::string>& labels,
                                            const LabelledCorpus& corpus) {
  constexpr size_t kNamed = 5;
  std::map<std::string, int32_t> numbers;
  for (size_t i = 0; i < labels.size(); ++i) numbers[labels[i]] = static_cast<int32_t>(i);
  std::map<std::string, std::string> unknown;  // with the place
  std::vector<std::vector<int32_t>> all;
  for (const LabelledItem& item : items) {
    std::vector<int32_t>& found = all.emplace_back();
    for (int64_t i = 0; i < std::ssize(item.labels); ++i) {
      const std::string& label = item.labels[i];
      const auto at = numbers.find(label);
      // The words of a sentence stand below each other.
      const Origin origin{item.origin.file, item.origin.line + i};
      if (at == numbers.end()) unknown.emplace(label, corpus.Where(origin));
      found.push_back(at == numbers.end() ? kNoLabel : at->second);
    }
  }
  if (unknown.empty()) return all;
  std::vector<std::string> named;
  for (const auto& [label, where] : unknown) {
    if (named.size() < kNamed) named.push_back(fmt::format("'{}' ({})", label, where));
  }
  throw Error(
      ErrorKind::kInput,
      fmt::format("{} label{} that the model does not know: {}{}; expected labels of the "
                  "training text: {}",
                  unknown.size(), unknown.size() == 1 ? "" : "s", fmt::join(named, ", "),
                  unknown.size() > kNamed ? ", ..." : "",
                  fmt::join(std::span(labels).first(std::min(labels.size(), 4 * kNamed)), ", ")));
}

}  // namespace

LabelledCorpus::LabelledCorpus(std::vector<std::string> files,
                               std::shared_ptr<const Vocabulary> vocabulary,
                               std::vector<LabelledItem> items,
                               const std::vector<std::string>& labels,
                               const LabelledOptions& options)
    : TextCorpus({{"text", std::move(files), std::move(vocabulary)}}),
      items_(std::move(items)),
      table_({ColumnType{ColumnKind::kIds}, ColumnType{ColumnKind::kLabels}}) {
  const std::vector<std::vector<int32_t>> numbers = NumbersOf(items_, labels, *this);
  report_.tokens = {0};
  for (int64_t i = 0; i < std::ssize(items_); ++i) {
    words_ += std::ssize(items_[i].words);
    options.by_token ? AddSentence(i, numbers[i], options.max_tokens)
                     : AddText(i, numbers[i], options.max_tokens);
  }
  report_.lines = report_.kept = std::ssize(items_);
  for (int64_t file = 0; file < this->files(); ++file)
    digest(0, file).sha256 = Sha256OfFile(columns()[0].files[file]);
}

void LabelledCorpus::AddSentence(int64_t number, const std::vector<int32_t>& labels,
                                 int64_t max_tokens) {
  const LabelledItem& item = items_[number];
  int64_t malformed = 0;
  const std::vector<WordPart> parts =
      EncodeWords(*columns()[0].vocabulary, item.words, max_tokens, &malformed);
  for (const WordPart& part : parts) {
    std::vector<int32_t> by_token(part.ids.size(), kNoLabel);
    for (size_t word = 0; word < part.first_tokens.size(); ++word)
      by_token[part.first_tokens[word]] = labels[part.first_word + static_cast<int64_t>(word)];
    AddExample(number, part.ids, by_token);
  }
  if (parts.size() > 1) Count(item.origin, 0, &longer_);
  if (malformed > 0) Count(item.origin, 0, &report_.malformed);
}

void LabelledCorpus::AddText(int64_t number, const std::vector<int32_t>& labels,
                             int64_t max_tokens) {
  const LabelledItem& item = items_[number];
  int64_t malformed = 0;
  const TextIds text = EncodeCut(*columns()[0].vocabulary, item.words[0], max_tokens, &malformed);
  AddExample(number, text.ids, labels);
  if (text.cut) Count(item.origin, 0, &longer_);
  if (malformed > 0) Count(item.origin, 0, &report_.malformed);
}

void LabelledCorpus::AddExample(int64_t number, const std::vector<int32_t>& ids,
                                const std::vector<int32_t>& labels) {
  table_.Append(0, ids);
  table_.Append(1, labels);
  table_.EndExample(items_[number].origin);
  item_of_.push_back(number);
  report_.tokens[0] += std::ssize(ids);
  unknown_tokens_ +=
      std::ranges::count(ids, static_cast<int32_t>(columns()[0].vocabulary->special_ids().unk));
}

std::unique_ptr<WindowReader> LabelledCorpus::Open(int64_t epoch, const WindowStart& /*start*/,
                                                   const WindowPart& /*part*/) const {
  return OpenTable(&table_, epoch);
}

std::string LabelledCorpus::Summary() const {
  std::string text = fmt::format("{} items", items_.size());
  if (words_ > std::ssize(items_))
    text = fmt::format("{} sentences, {} words", items_.size(), words_);
  return text + fmt::format(", {} tokens", report_.tokens[0]);
}

}  // namespace attend
