#include "search/label_path.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attend {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// The best score of each label of one word, given those of the word before; `from` gets the label
// before.
std::vector<double> Advance(const std::vector<double>& before_L, std::span<const float> scores_L,
                            const LabelTransitions& transitions, std::span<int32_t> from_L) {
  const size_t labels = scores_L.size();
  std::vector<double> best_L(labels, kNever);
  for (size_t previous = 0; previous < labels; ++previous) {
    if (before_L[previous] == kNever) continue;
    const float* next_L = transitions.next_LL.data() + previous * labels;
    for (size_t label = 0; label < labels; ++label) {
      const double score = before_L[previous] + static_cast<double>(next_L[label]);
      if (score <= best_L[label]) continue;
      best_L[label] = score;
      from_L[label] = static_cast<int32_t>(previous);
    }
  }
  for (size_t label = 0; label < labels; ++label)
    best_L[label] += static_cast<double>(scores_L[label]);
  return best_L;
}

}  // namespace

LabelTransitions LabelTransitions::Free(int64_t labels) {
  return {std::vector<float>(labels), std::vector<float>(labels),
          std::vector<float>(labels * labels)};
}

LabelPath BestLabels(std::span<const float> scores_TL, const LabelTransitions& transitions) {
  const size_t labels = transitions.begin_L.size(), words = scores_TL.size() / labels;
  if (words == 0) return {};
  std::vector<double> best_L(labels);
  for (size_t label = 0; label < labels; ++label)
    best_L[label] =
        static_cast<double>(scores_TL[label]) + static_cast<double>(transitions.begin_L[label]);
  std::vector<int32_t> from_TL(words * labels);
  for (size_t word = 1; word < words; ++word) {
    const auto from_L = std::span(from_TL).subspan(word * labels, labels);
    best_L = Advance(best_L, scores_TL.subspan(word * labels, labels), transitions, from_L);
  }
  for (size_t label = 0; label < labels; ++label)
    best_L[label] += static_cast<double>(transitions.end_L[label]);
  const auto last = std::max_element(best_L.begin(), best_L.end());
  if (*last == kNever) return BestLabels(scores_TL, LabelTransitions::Free(std::ssize(best_L)));
  LabelPath path{std::vector<int32_t>(words), *last};
  path.labels.back() = static_cast<int32_t>(last - best_L.begin());
  for (size_t word = words - 1; word > 0; --word)
    path.labels[word - 1] = from_TL[word * labels + path.labels[word]];
  return path;
}

}  // namespace attend
