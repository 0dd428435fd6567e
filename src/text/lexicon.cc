#include "text/lexicon.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace attend {
namespace {

constexpr size_t kMostFresh = size_t{1} << 24;    // 128 MiB
constexpr size_t kMostCounted = size_t{1} << 26;  // 1 GiB; pairs seen once go where there are more

LexicalEntry* Find(std::vector<LexicalEntry>* entries, int32_t target) {
  const auto found = std::ranges::lower_bound(*entries, target, {}, &LexicalEntry::target);
  return found != entries->end() && found->target == target ? &*found : nullptr;
}

// Each target of a pair takes its share from every source by t(target | source), Brown et al. 1993,
// equations 5 and 6.
void Expect(std::span<const int32_t> source, std::span<const int32_t> target,
            const std::vector<std::vector<LexicalEntry>>& table,
            std::vector<std::vector<LexicalEntry>>* shares) {
  for (const int32_t t : target) {
    double sum = 0;
    for (const int32_t s : source) {
      const auto& entries = table[s];
      const auto found = std::ranges::lower_bound(entries, t, {}, &LexicalEntry::target);
      if (found != entries.end() && found->target == t) sum += found->probability;
    }
    if (sum == 0) continue;
    for (const int32_t s : source) {
      LexicalEntry* share = Find(&(*shares)[s], t);
      if (share == nullptr) continue;
      // The two tables have the same entries at the same places.
      const auto at = share - (*shares)[s].data();
      share->probability += table[s][at].probability / sum;
    }
  }
}

}  // namespace

void LexiconTrainer::Add(std::span<const int32_t> source, std::span<const int32_t> target) {
  if (std::max(std::ssize(source), std::ssize(target)) > kMostPieces) {
    ++left_out_;
    return;
  }
  for (const std::span<const int32_t> side : {source, target}) {
    ids_.insert(ids_.end(), side.begin(), side.end());
    lengths_.push_back(std::ssize(side));
  }
  for (const int32_t t : target) {
    if (std::ssize(target_counts_) <= t) target_counts_.resize(t + 1);
    ++target_counts_[t];
    for (const int32_t s : source) {
      fresh_.push_back(static_cast<uint64_t>(s) << 32 | static_cast<uint32_t>(t));
    }
  }
  if (fresh_.size() >= kMostFresh) CountPairs();
}

void LexiconTrainer::CountPairs() {
  std::ranges::sort(fresh_);
  std::vector<Count> merged;
  merged.reserve(counts_.size() + fresh_.size() / 4);
  size_t old = 0;
  for (size_t i = 0; i < fresh_.size();) {
    size_t end = i;
    while (end < fresh_.size() && fresh_[end] == fresh_[i]) ++end;
    for (; old < counts_.size() && counts_[old].first < fresh_[i]; ++old) {
      merged.push_back(counts_[old]);
    }
    uint32_t count = static_cast<uint32_t>(end - i);
    if (old < counts_.size() && counts_[old].first == fresh_[i]) count += counts_[old++].second;
    merged.emplace_back(fresh_[i], count);
    i = end;
  }
  merged.insert(merged.end(), counts_.begin() + static_cast<int64_t>(old), counts_.end());
  if (merged.size() > kMostCounted) {
    std::erase_if(merged, [](const Count& count) { return count.second == 1; });
  }
  counts_ = std::move(merged);
  fresh_.clear();
}

LexiconTrainer::Table LexiconTrainer::Candidates() {
  CountPairs();
  Table table(source_size_);
  std::vector<std::pair<uint32_t, int32_t>> row;  // count, target
  for (size_t i = 0; i < counts_.size();) {
    const uint64_t source = counts_[i].first >> 32;
    row.clear();
    for (; i < counts_.size() && counts_[i].first >> 32 == source; ++i) {
      row.emplace_back(counts_[i].second, static_cast<int32_t>(counts_[i].first));
    }
    std::ranges::sort(row, [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    if (std::ssize(row) > candidates_) row.resize(candidates_);
    for (const auto& [count, target] : row) {
      table[source].push_back({target, 1.0 / static_cast<double>(row.size())});
    }
    std::ranges::sort(table[source], {}, &LexicalEntry::target);
  }
  counts_ = {};
  return table;
}

LexiconTrainer::Table LexiconTrainer::Maximize(const Table& table) const {
  Table next = table;
  for (auto& entries : next) {
    for (LexicalEntry& entry : entries) entry.probability = 0;
  }
  const int32_t* ids = ids_.data();
  for (size_t i = 0; i < lengths_.size(); i += 2) {
    const std::span source(ids, lengths_[i]);
    const std::span target(ids + lengths_[i], lengths_[i + 1]);
    Expect(source, target, table, &next);
    ids += lengths_[i] + lengths_[i + 1];
  }
  for (auto& entries : next) {
    double sum = 0;
    for (const LexicalEntry& entry : entries) sum += entry.probability;
    if (sum == 0) continue;
    for (LexicalEntry& entry : entries) entry.probability /= sum;
  }
  return next;
}

std::vector<std::vector<LexicalEntry>> LexiconTrainer::Train(int64_t iterations) {
  Table table = Candidates();
  for (int64_t i = 0; i < iterations; ++i) table = Maximize(table);
  for (auto& entries : table) {
    std::ranges::stable_sort(entries, std::greater{}, &LexicalEntry::probability);
  }
  return table;
}

std::vector<int32_t> LexiconTrainer::MostFrequentTargets() const {
  std::vector<int32_t> order(target_counts_.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater{}, [&](int32_t id) { return target_counts_[id]; });
  std::erase_if(order, [&](int32_t id) { return target_counts_[id] == 0; });
  return order;
}

}  // namespace attend
