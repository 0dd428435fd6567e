#include "data/text_survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <utility>

#include "base/thread_pool.h"
#include "text/lines.h"

namespace attend {
namespace {

// 2^64 over the golden ratio: products with it differ in their high bits as well.
constexpr uint64_t kSpread = 0x9E3779B97F4A7C15;

uint64_t HashOf(const std::string& line) { return std::hash<std::string>()(line) * kSpread; }

// Equal in both directions.
uint64_t PairHash(uint64_t source, uint64_t target) {
  const auto [least, most] = std::minmax(source, target);
  return least * kSpread ^ most;
}

// Calls visit(source, target, line from 1) for each pair of lines of one file of each side.
template <typename Visit>
void ForEachPair(const ParallelFiles& files, size_t file, const Visit& visit) {
  LineReader source(files.source.at(file)), target(files.target.at(file));
  std::string from, to;
  while (source.Next(&from) && target.Next(&to)) visit(from, to, source.lines());
}

}  // namespace

HeldOutPairs::HeldOutPairs(const ParallelFiles& files) : files_(files.source) {
  for (size_t file = 0; file < files_.size(); ++file) {
    ForEachPair(files, file, [&](const std::string& from, const std::string& to, int64_t line) {
      if (from.empty() || to.empty()) return;
      const uint64_t source = HashOf(from);
      pairs_.push_back({PairHash(source, HashOf(to)), source, file, line});
    });
  }
}

void HeldOutPairs::AddTo(PairHashes* hashes) const {
  for (const Pair& pair : pairs_) hashes->insert({pair.hash, pair.source_hash});
}

HeldOutPairs::Found HeldOutPairs::Among(const PairHashes& hashes) const {
  Found found;
  for (const Pair& pair : pairs_) {
    if (!hashes.contains(pair.hash)) {
      found.sources += hashes.contains(pair.source_hash) ? 1 : 0;
      continue;
    }
    ++found.pairs.count;
    if (found.pairs.first.size() < NamedLines::kNamed)
      found.pairs.first.push_back(fmt::format("{}:{}", files_[pair.file], pair.line));
  }
  return found;
}

TextSurvey SurveyText(const ParallelFiles& files, const std::shared_ptr<const Vocabulary>& source,
                      const std::shared_ptr<const Vocabulary>& target, const PairHashes& wanted,
                      int threads) {
  TextSurvey survey;
  std::mutex mutex;
  const auto read = [&](int64_t task, int) {
    const auto file = static_cast<size_t>(task);
    UnknownCounter source_counter(source), target_counter(target);
    PairHashes met;
    int64_t pairs = 0, same = 0;
    ForEachPair(files, file, [&](const std::string& from, const std::string& to, int64_t) {
      source_counter.Add(from);
      target_counter.Add(to);
      if (from.empty() || to.empty()) return;
      ++pairs;
      if (from == to) ++same;
      if (wanted.empty()) return;
      const uint64_t of_source = HashOf(from), of_target = HashOf(to);
      for (const uint64_t hash : {PairHash(of_source, of_target), of_source, of_target}) {
        if (wanted.contains(hash)) met.insert(hash);
      }
    });
    const std::lock_guard lock(mutex);
    survey.source.Add(source_counter.found());
    survey.target.Add(target_counter.found());
    survey.met.merge(met);
    if (pairs > 0 && same == pairs) survey.copies.push_back(file);
  };
  ThreadPool(threads).ParallelFor(std::ssize(files.source), read);
  std::sort(survey.copies.begin(), survey.copies.end());
  return survey;
}

}  // namespace attend
