#include "search/label_path.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/scores.h"

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

LabelPosterior::LabelPosterior(std::span<const float> scores_TL,
                               const LabelTransitions& transitions)
    : labels_(std::ssize(transitions.begin_L)),
      scores_TL_(scores_TL.begin(), scores_TL.end()),
      transitions_(transitions),
      before_TL_(scores_TL.size()),
      after_TL_(scores_TL.size()) {
  const int64_t words = std::ssize(scores_TL_) / labels_;
  std::vector<double> paths_L(labels_);
  const auto next = [&](int64_t label, int64_t other) {
    return static_cast<double>(transitions_.next_LL[label * labels_ + other]);
  };
  for (int64_t word = 0; word < words; ++word) {
    for (int32_t label = 0; label < labels_; ++label) {
      double before = static_cast<double>(transitions_.begin_L[label]);
      if (word > 0) {
        for (int64_t other = 0; other < labels_; ++other)
          paths_L[other] = before_TL_[(word - 1) * labels_ + other] + next(other, label);
        before = ExpSum(std::span<const double>(paths_L)).Log();
      }
      before_TL_[word * labels_ + label] = before + Score(word, label);
    }
  }
  for (int64_t word = words - 1; word >= 0; --word) {
    for (int64_t label = 0; label < labels_; ++label) {
      double after = static_cast<double>(transitions_.end_L[label]);
      if (word + 1 < words) {
        for (int32_t other = 0; other < labels_; ++other)
          paths_L[other] =
              next(label, other) + Score(word + 1, other) + after_TL_[(word + 1) * labels_ + other];
        after = ExpSum(std::span<const double>(paths_L)).Log();
      }
      after_TL_[word * labels_ + label] = after;
    }
  }
  for (int64_t label = 0; label < labels_ && words > 0; ++label)
    paths_L[label] = before_TL_[label] + after_TL_[label];
  all_ = ExpSum(std::span<const double>(paths_L)).Log();
  if (all_ == kNever) *this = LabelPosterior(scores_TL, LabelTransitions::Free(labels_));
}

double LabelPosterior::Probability(int64_t first_word, std::span<const int32_t> labels) const {
  double score = before_TL_[first_word * labels_ + labels[0]];
  for (size_t i = 1; i < labels.size(); ++i) {
    score += static_cast<double>(transitions_.next_LL[labels[i - 1] * labels_ + labels[i]]) +
             Score(first_word + static_cast<int64_t>(i), labels[i]);
  }
  const int64_t last = first_word + std::ssize(labels) - 1;
  return std::exp(std::min(0.0, score + after_TL_[last * labels_ + labels.back()] - all_));
}

}  // namespace attend
