#include "memory/translation_memory.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <ranges>
#include <unordered_set>
#include <utility>

#include "memory/memory_words.h"
#include "memory/word_distance.h"

namespace attend {
namespace {

// Of words that no unit has. Each counts as different from every unit's.
constexpr uint32_t kUnknownWord = std::numeric_limits<uint32_t>::max() - 1;
constexpr size_t kMostWords = 10000;  // of a text
// Room for rounding where a bound is computed; scores themselves are compared as they are.
constexpr double kSlack = 1e-9;

double ScoreOf(int64_t distance, size_t a, size_t b) {
  const auto longer = static_cast<double>(std::max(a, b));
  return 100 * (longer - static_cast<double>(distance)) / longer;
}

struct UsefulUnit {
  uint32_t place;
  size_t words;  // of its source
};

// Those that stay, in the order given: each with words, of equal ones the last.
std::vector<UsefulUnit> UsefulUnits(const std::vector<MemoryUnit>& units) {
  std::unordered_set<std::string> seen;
  std::vector<UsefulUnit> useful;
  for (size_t i = units.size(); i-- > 0;) {
    const auto& [source, target] = units[i];
    const size_t words = MemoryWords(source).size();
    if (words == 0 || MemoryWords(target).empty()) continue;
    if (seen.insert(source + '\n' + target).second)
      useful.push_back({static_cast<uint32_t>(i), words});
  }
  std::ranges::reverse(useful);
  return useful;
}

}  // namespace

FieldList Fields(MatchOptions& options, double least_threshold) {
  FieldList fields;
  fields
      .Add("memory_threshold", &options.threshold, least_threshold, 100,
           "least score of a match of the translation memory: 100 less the share of words that "
           "differ, in percent of the longer text; 100: exact matches alone")
      .Add("memory_matches", &options.most, 1, 100,
           "maximum number of matches of the translation memory");
  return fields;
}

TranslationMemory::TranslationMemory(std::vector<MemoryUnit> units) {
  std::vector<UsefulUnit> useful = UsefulUnits(units);
  std::ranges::stable_sort(useful, {}, &UsefulUnit::words);
  word_starts_.push_back(0);
  for (const UsefulUnit& unit : useful) {
    for (const std::string_view word : MemoryWords(units[unit.place].source)) {
      const auto found = ids_.find(word);
      const auto next = static_cast<uint32_t>(ids_.size());
      words_.push_back(found != ids_.end() ? found->second
                                           : ids_.emplace(word, next).first->second);
    }
    word_starts_.push_back(words_.size());
    units_.push_back(std::move(units[unit.place]));
    order_.push_back(unit.place);
  }
  MakeIndex();
}

void TranslationMemory::MakeIndex() {
  // A unit is listed once for each of its words, however often it has it.
  const auto each = [&](const std::function<void(uint32_t word, uint32_t unit)>& use) {
    std::vector<uint32_t> words;
    for (uint32_t unit = 0; unit < units_.size(); ++unit) {
      const std::span<const uint32_t> all = WordsOf(unit);
      words.assign(all.begin(), all.end());
      std::ranges::sort(words);
      words.erase(std::ranges::unique(words).begin(), words.end());
      for (const uint32_t word : words) use(word, unit);
    }
  };
  with_starts_.assign(ids_.size() + 1, 0);
  each([&](uint32_t word, uint32_t /*unit*/) { ++with_starts_[word + 1]; });
  std::partial_sum(with_starts_.begin(), with_starts_.end(), with_starts_.begin());
  with_.resize(with_starts_.back());
  std::vector<uint64_t> next(with_starts_.begin(), with_starts_.end() - 1);
  each([&](uint32_t word, uint32_t unit) { with_[next[word]++] = unit; });
}

std::vector<uint32_t> TranslationMemory::IdsOf(std::string_view text) const {
  std::vector<uint32_t> ids;
  for (const std::string_view word : MemoryWords(text)) {
    const auto found = ids_.find(word);
    ids.push_back(found == ids_.end() ? kUnknownWord : found->second);
  }
  return ids;
}

std::span<const uint32_t> TranslationMemory::WordsOf(uint32_t unit) const {
  return {words_.data() + word_starts_[unit], words_.data() + word_starts_[unit + 1]};
}

std::span<const uint32_t> TranslationMemory::UnitsWith(uint32_t word, Range range) const {
  if (word == kUnknownWord) return {};
  const auto begin = with_.begin() + static_cast<std::ptrdiff_t>(with_starts_[word]);
  const auto end = with_.begin() + static_cast<std::ptrdiff_t>(with_starts_[word + 1]);
  const auto first = std::lower_bound(begin, end, range.begin);
  return {first, std::lower_bound(first, end, range.end)};
}

TranslationMemory::Range TranslationMemory::WithLength(double least, double most) const {
  const auto all = std::ranges::iota_view<uint32_t, uint32_t>(0, static_cast<uint32_t>(size()));
  const auto length = [&](uint32_t unit) { return static_cast<double>(WordsOf(unit).size()); };
  return {*std::ranges::lower_bound(all, least, {}, length),
          *std::ranges::upper_bound(all, most, {}, length)};
}

// A unit of score t (from 0 to 1) shares at least t n words with a text of n words, since what is
// not shared is inserted, deleted or replaced. So it has one of any n - t n + 1 of the text's
// words, and the rarest of these have the shortest lists.
std::vector<uint32_t> TranslationMemory::Candidates(std::span<const uint32_t> words,
                                                    double threshold) const {
  const double share = threshold / 100, length = static_cast<double>(words.size());
  const Range range = WithLength(share * length - kSlack, length / share + kSlack);
  std::vector<std::span<const uint32_t>> lists;
  for (const uint32_t word : words) lists.push_back(UnitsWith(word, range));
  const auto by_size = [](const auto& list) { return std::pair(list.size(), list.data()); };
  std::ranges::sort(lists, {}, by_size);
  const auto shared = static_cast<size_t>(std::ceil(share * length - kSlack));
  lists.resize(words.size() - std::max<size_t>(shared, 1) + 1);
  const auto repeated = std::ranges::unique(lists, {}, by_size);
  lists.erase(repeated.begin(), repeated.end());  // of a word that stands there more than once
  std::vector<bool> seen(range.end - range.begin);
  std::vector<uint32_t> candidates;
  for (const std::span<const uint32_t> list : lists) {
    for (const uint32_t unit : list) {
      if (seen[unit - range.begin]) continue;
      seen[unit - range.begin] = true;
      candidates.push_back(unit);
    }
  }
  return candidates;
}

std::vector<MemoryMatch> TranslationMemory::Find(std::string_view text,
                                                 const MatchOptions& options) const {
  const std::vector<uint32_t> words = IdsOf(text);
  if (words.empty() || words.size() > kMostWords) return {};
  const std::vector<uint32_t> candidates = Candidates(words, options.threshold);
  if (candidates.empty()) return {};  // without the memory that comparing takes
  struct Found {
    double score;
    uint32_t order, unit;
    auto operator<=>(const Found&) const = default;
  };
  std::vector<Found> found;
  WordDistance distance(words);
  int64_t work = 0;
  for (const uint32_t unit : candidates) {
    const std::span<const uint32_t> other = WordsOf(unit);
    work += std::ssize(words) * std::ssize(other);
    if (options.most_work > 0 && work > options.most_work) break;
    const double score = ScoreOf(distance.To(other), words.size(), other.size());
    if (score < options.threshold || (score == 100 && !options.exact)) continue;
    found.push_back({score, order_[unit], unit});
  }
  const size_t most = std::min(found.size(), static_cast<size_t>(options.most));
  std::ranges::partial_sort(found, found.begin() + static_cast<std::ptrdiff_t>(most),
                            std::ranges::greater());
  std::vector<MemoryMatch> matches;
  for (const Found& one : std::span(found).first(most))
    matches.push_back({one.score, units_[one.unit].source, units_[one.unit].target});
  return matches;
}

}  // namespace attend
